// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.farm;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.device.protocol.ModelSession;
import io.kiln.farm.job.FarmAnswer.Outputs;
import io.kiln.farm.job.FarmAnswer.Ran;
import java.util.Iterator;
import java.util.List;
import java.util.OptionalLong;

/** A session with an image whose answers are known: those of the calls that a worker made, in their order. */
public final class AnsweredSession implements ModelSession {
    private final Ran ran;
    private final Iterator<Outputs> answers;

    AnsweredSession(Ran ran) {
        this.ran = ran;
        this.answers = ran.runs().iterator();
    }

    /**
     * The models that the image listed.
     *
     * @throws KilnException if the image failed before it listed its models
     */
    @Override
    public List<Model> models() {
        if (ran.models().isEmpty()) {
            throw failure();
        }
        return ran.models().stream()
                .map(held -> new Model(held.name(), held.inputBytes(), held.outputBytes()))
                .toList();
    }

    /** The worker's next answer. */
    @Override
    public List<Bytes> run(int index, Model model, List<Bytes> inputs) {
        if (!answers.hasNext()) {
            throw failure();
        }
        List<Bytes> outputs = answers.next().bytes();
        List<Integer> sizes = outputs.stream().map(Bytes::size).toList();
        if (!sizes.equals(model.outputBytes())) {
            throw Failure.FARM.exception(
                    "a worker of the farm sent outputs of " + sizes + " bytes",
                    model.name(),
                    model.outputBytes() + " bytes");
        }
        return outputs;
    }

    private KilnException failure() {
        return ran.failure().isEmpty()
                ? Failure.FARM.exception("the farm left out runs of the image", "")
                : new KilnException(ran.failure());
    }

    /** Does nothing: the worker has ended the program. */
    @Override
    public void exit() {}

    @Override
    public OptionalLong stackUsed() {
        return ran.stack();
    }

    @Override
    public void close() {}
}
