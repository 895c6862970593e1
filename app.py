"""Which stacks exist: ``cdk synth`` runs this."""

import aws_cdk as cdk

from stacks.three_quota import ThreeQuotaStack
from stacks.training_plan import TrainingPlanStack

app = cdk.App()
ThreeQuotaStack(app, "ThreeQuota")
TrainingPlanStack(app, "TrainingPlan")
app.synth()
