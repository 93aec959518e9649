"""The two turns of X-Ragent as an agent loop of verl: turn 1, what the platform observed, turn 2.

Token ids are concatenated and never rendered again: a conversation that is encoded anew is not the
one that was generated. Observations carry mask 0.
"""

import asyncio
import base64
import io
from uuid import uuid4

from PIL import Image
from verl.experimental.agent_loop.agent_loop import AgentLoopBase, AgentLoopOutput, register

import client

TURN = 1024  # tokens of one turn


@register("xragent")
class XRagentLoop(AgentLoopBase):
    async def run(self, sampling_params, **kwargs):
        about = kwargs["extra_info"]
        step, item = int(about["step"]), about["item_id"]
        place = (step, item, client.draw(step, item, self.rollout_config.n))
        messages = list(kwargs["raw_prompt"])
        pictures = list((await self.process_vision_info(messages)).get("images") or [])
        prompt = await self.apply_chat_template(messages, images=pictures)
        request, sampling = uuid4().hex, dict(sampling_params, max_tokens=TURN)

        async def speak(ids):
            out = await self.server_manager.generate(request_id=request, prompt_ids=ids, sampling_params=sampling, image_data=pictures or None)
            # The reason for the end is not passed on by every engine: a turn at its limit was cut.
            finish = "length" if len(out.token_ids) >= TURN else "stop"
            return list(out.token_ids), self.tokenizer.decode(out.token_ids, skip_special_tokens=True), finish

        ids1, text1, finish1 = await speak(prompt)
        response, mask, turns = list(ids1), [1] * len(ids1), 2
        seen = await asyncio.to_thread(client.observe, item, text1, finish1)
        trajectory = client.trajectory(text1, finish1)
        if not seen["ending"]:
            content, new = [], []
            for part in seen["parts"]:
                if part["type"] == "text":
                    content.append({"type": "text", "text": part["text"]})
                else:
                    new.append(Image.open(io.BytesIO(base64.b64decode(part["image_url"]["url"].split(",", 1)[1]))).convert("RGB"))
                    content.append({"type": "image"})
            shown = await self.apply_chat_template([{"role": "user", "content": content}], images=new or None, remove_system_prompt=True)
            pictures += new
            response, mask = response + shown, mask + [0] * len(shown)
            ids2, text2, finish2 = await speak(prompt + response)
            response, mask, turns = response + ids2, mask + [1] * len(ids2), 4
            trajectory = client.trajectory(text1, finish1, seen, text2, finish2)
        if len(response) > self.rollout_config.response_length:
            raise RuntimeError(f"a trajectory of {len(response)} tokens, and data.max_response_length is {self.rollout_config.response_length}: raise it, or rewards are of what is not trained")
        return AgentLoopOutput(prompt_ids=prompt, response_ids=response, response_mask=mask, multi_modal_data={"images": pictures} if pictures else {},
                               num_turns=turns, metrics={}, extra_fields={"xragent": {"place": place, "trajectory": trajectory}})
