"""What ms-swift loads with --external_plugins: the reward, the two turns, events of SFT."""

import os

import client

try:  # release 4
    from swift.callbacks import TrainerCallback, callbacks_map as callbacks
    from swift.rewards import ORM, orms
    from swift.rollout.multi_turn import MultiTurnScheduler, multi_turns
except ImportError:  # release 3
    from swift.plugin import ORM, extra_callbacks as callbacks, orms
    from swift.plugin.multi_turn import MultiTurnScheduler, multi_turns
    from transformers import TrainerCallback


class Reward(ORM):
    """Asks the platform. No score, no training step."""

    def __call__(self, completions, rollout_infos=None, solution=None, **kwargs):
        got = client.reward([client.sample(*i["place"], truth, i["trajectory"]) for i, truth in zip(rollout_infos, solution)])
        return [r["score"] for r in got]


class TwoTurns(MultiTurnScheduler):
    """Turn 1, what the platform observed, turn 2. The mask is explicit: the default of GRPO trains what
    follows the last user message, and would leave turn 1 untrained."""

    def check_finished(self, infer_request, response_choice, current_turn):
        about = infer_request.data_dict
        text, finish = response_choice.message.content, response_choice.finish_reason
        if current_turn == 1:
            step, item = about["step"], about["item_id"]
            about["place"] = [step, item, client.draw(step, item, int(os.environ["CXREPRO_GROUP"]))]
            about["seen"] = client.observe(item, text, finish)
            about["first"] = [text, finish]
            about["trajectory"] = client.trajectory(text, finish)
            return bool(about["seen"]["ending"])
        about["trajectory"] = client.trajectory(*about["first"], about["seen"], text, finish)
        return True

    def step(self, infer_request, response_choice, current_turn):
        content = ""
        for part in infer_request.data_dict["seen"]["parts"]:
            if part["type"] == "text":
                content += part["text"]
            else:
                content += "<image>"
                infer_request.images.append(part["image_url"]["url"])
        infer_request.messages.append({"role": "user", "content": content})
        ids = list(response_choice.token_ids)
        return {"infer_request": infer_request, "response_token_ids": ids, "response_loss_mask": [1] * len(ids), "rollout_infos": self.infos(infer_request)}

    def infos(self, infer_request):
        about = infer_request.data_dict
        return {"place": about["place"], "trajectory": about["trajectory"]}

    def on_trajectory_end(self, infer_request, *args, **kwargs):
        return {"rollout_infos": self.infos(infer_request)}


class Events(TrainerCallback):
    """One event a step of the schedule, after its last update."""

    def __init__(self, *args, **kwargs):
        super().__init__()
        self.schedule, self.updates, self.group = client.schedule(), int(os.environ["CXREPRO_UPDATES"]), int(os.environ["CXREPRO_GROUP"])

    def on_step_end(self, args, state, control, **kwargs):
        if state.global_step % self.updates == 0:
            step = state.global_step // self.updates
            loss = state.log_history[-1].get("loss", 0.0) if state.log_history else 0.0
            client.event(step, state.global_step, self.schedule[step], len(self.schedule[step]) * self.group, loss)


orms["xragent"] = Reward
multi_turns["xragent"] = TwoTurns
if isinstance(callbacks, dict):
    callbacks["xragent_events"] = Events
else:
    callbacks.append(Events())
