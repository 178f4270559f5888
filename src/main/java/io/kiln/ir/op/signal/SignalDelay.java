// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.signal;

import io.kiln.base.DType;
import io.kiln.ir.op.Check;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;

/**
 * Delays each vector of a signal along the last axis; the delayed signal starts with zeros
 * (signal/micro/kernels/delay.cc of TensorFlow Lite Micro). Arguments: data, int16; the state, a variable: a vector of
 * {@code length} samples for each vector of the data, the oldest first.
 *
 * @param length number of samples, 1 or more
 */
public record SignalDelay(int length) implements SignalMemory {
    public SignalDelay {
        Check.that(length >= 1, "a delay takes 1 sample or more, not " + length);
    }

    @Override
    public String name() {
        return "tfl.signal_delay";
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes("delay_length", length);
    }

    @Override
    public TensorType state(TensorType data) {
        long elements = data.shape().elements() / data.shape().dim(-1) * length;
        return new TensorType(Check.vector(elements), DType.INT16);
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.vectors(args.get(0));
        Check.dtype("data", args.get(0), DType.INT16);
        Check.state(args.get(STATE), state(args.get(0)));
        return args.get(0);
    }
}
