// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.signal;

import io.kiln.base.DType;
import io.kiln.ir.op.Check;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Adds overlapping frames to a signal (signal/src/overlap_add.cc of TensorFlow Lite Micro). Arguments: data, int16 or
 * float32, of shape (.., frames, samples); the state, a variable: the sums so far, as many samples as one frame of each
 * signal has. Sums of int16 saturate frame by frame.
 *
 * @param step samples between the starts of frames; the number of samples of the signal that each frame completes
 */
public record SignalOverlapAdd(int step) implements SignalMemory {
    public SignalOverlapAdd {
        Check.that(step >= 1, "frames follow each other by 1 sample or more, not " + step);
    }

    @Override
    public String name() {
        return "tfl.signal_overlap_add";
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes("frame_step", step);
    }

    @Override
    public TensorType state(TensorType data) {
        return new TensorType(
                Check.vector(data.shape().elements() / data.shape().dim(-2)), data.dtype());
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        TensorType data = args.get(0);
        Check.vectors(data);
        Check.oneOf("data", data, Set.of(DType.INT16, DType.FLOAT32));
        Check.that(data.shape().rank() >= 2, "data " + data.text() + " do not have a dimension of frames");
        Check.that(
                step <= data.shape().dim(-1),
                "frames of " + data.text() + " are shorter than the step from one to the next, " + step);
        Check.state(args.get(STATE), state(data));
        List<Integer> dims =
                new ArrayList<>(data.shape().dims().subList(0, data.shape().rank() - 2));
        dims.add(Check.vector((long) data.shape().dim(-2) * step).dim(0));
        return new TensorType(new Shape(dims), data.dtype());
    }
}
