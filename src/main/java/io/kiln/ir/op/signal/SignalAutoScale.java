// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.signal;

import io.kiln.base.DType;
import io.kiln.ir.op.Check;
import io.kiln.ir.type.TensorType;
import java.util.List;

/**
 * Shifts samples left until the largest uses 15 bits (signal/src/fft_auto_scale.cc of TensorFlow Lite Micro).
 * Arguments: data, a vector of int16; a variable, an int32 scalar, which gets the number of bits.
 *
 * <p>The largest absolute value is an int16, computed sample by sample: -32768 makes it -32768, which any later sample
 * exceeds. If it is not positive, nothing is shifted. Values that no longer fit into int16 wrap around.
 */
public record SignalAutoScale() implements Signal {
    /** Position of the number of bits among the arguments. */
    public static final int BITS = 1;

    @Override
    public String name() {
        return "tfl.signal_fft_auto_scale";
    }

    @Override
    public int arity() {
        return 2;
    }

    @Override
    public List<Integer> writes() {
        return List.of(BITS);
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.dtype("data", args.get(0), DType.INT16);
        Check.rank("data", args.get(0), 1);
        Check.scalar("the number of bits", args.get(BITS), DType.INT32);
        return args.get(0);
    }
}
