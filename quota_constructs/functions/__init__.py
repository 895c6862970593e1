"""Code of AWS Lambda functions: a module that is put into the template, and a package that is zipped."""
