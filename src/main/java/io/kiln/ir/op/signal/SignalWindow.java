// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.signal;

import io.kiln.base.DType;
import io.kiln.ir.op.Check;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;

/**
 * Weighs the samples of each vector along the last axis: {@code (data * weight) >> shift}, saturated to int16
 * (signal/src/window.cc of TensorFlow Lite Micro). Arguments: data, int16; weights, int16, one for each sample of a
 * vector.
 *
 * @param shift 0 to 31
 */
public record SignalWindow(int shift) implements Signal {
    public SignalWindow {
        Check.that(shift >= 0 && shift < Integer.SIZE, "a window takes a shift from 0 to 31, not " + shift);
    }

    @Override
    public String name() {
        return "tfl.signal_window";
    }

    @Override
    public int arity() {
        return 2;
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes("shift", shift);
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        TensorType data = args.get(0);
        Check.vectors(data);
        Check.dtype("data", data, DType.INT16);
        Check.dtype("weights", args.get(1), DType.INT16);
        Check.rank("weights", args.get(1), 1);
        Check.that(
                args.get(1).shape().dim(0) == data.shape().dim(-1),
                "weights " + args.get(1).text() + " do not fit data " + data.text());
        return data;
    }
}
