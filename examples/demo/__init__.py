"""``make demo``: AWS's three-quota scenario, deployed and run on the local AWS."""
