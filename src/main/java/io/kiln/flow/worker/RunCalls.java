// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.worker;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.device.protocol.Conversation;
import io.kiln.device.protocol.ModelSession;
import io.kiln.device.transport.Transport;
import io.kiln.farm.job.FarmAnswer.Held;
import io.kiln.farm.job.FarmAnswer.Outputs;
import io.kiln.farm.job.FarmAnswer.Ran;
import io.kiln.farm.job.FarmTask.Call;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/** Makes a job's calls one after another, and keeps the answers if one of them fails. */
final class RunCalls {
    private final List<Call> calls;
    private final List<Held> models = new ArrayList<>();
    private final List<Outputs> runs = new ArrayList<>();

    RunCalls(List<Call> calls) {
        this.calls = calls;
    }

    Ran over(Transport line, Conversation conversation) {
        try {
            ModelSession ended = conversation.over(line, session -> {
                all(session);
                return session;
            });
            return new Ran(models, runs, List.of(), ended.stackUsed());
        } catch (KilnException e) {
            return new Ran(models, runs, e.problems(), OptionalLong.empty());
        }
    }

    private void all(ModelSession session) {
        List<ModelSession.Model> held = session.models();
        held.forEach(model -> models.add(new Held(model.name(), model.inputBytes(), model.outputBytes())));
        for (Call call : calls) {
            if (call.model() >= held.size()) {
                throw Failure.FARM.exception(
                        "the image has no model " + call.model(), "console", "one of " + held.size() + " models");
            }
            runs.add(new Outputs(session.run(call.model(), held.get(call.model()), call.inputs())));
        }
    }
}
