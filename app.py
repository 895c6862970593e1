"""Which stacks exist: ``cdk synth`` runs this."""

import aws_cdk as cdk

from stacks.team import TeamStack
from stacks.three_quota import ThreeQuotaStack
from stacks.training_plan import TrainingPlanStack

app = cdk.App()
three_quota = ThreeQuotaStack(app, "ThreeQuota")
TrainingPlanStack(app, "TrainingPlan")
vision = TeamStack(app, "VisionTeam", share_prefix=three_quota.published_as("standard"), team="vision")
vision.add_stack_dependency(three_quota)  # At the first deployment of both: what is not published cannot be read.
app.synth()
