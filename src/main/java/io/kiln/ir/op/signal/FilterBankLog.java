// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.signal;

import io.kiln.base.DType;
import io.kiln.ir.op.Check;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;

/**
 * The natural logarithm of each channel (signal/src/filter_bank_log.cc of TensorFlow Lite Micro). Argument: data,
 * uint32, which is first shifted left. The result is int16: the logarithm times a scale, rounded as in {@link
 * io.kiln.ir.arith.ScaledLogarithm}, at most 32767; 0 for shifted values of 0 and 1.
 *
 * @param outputScale factor of the logarithm, 1 or more
 * @param correctionBits left shift of the data, 0 to 31; bits beyond 32 are lost
 */
public record FilterBankLog(int outputScale, int correctionBits) implements FilterBank {
    public FilterBankLog {
        Check.that(outputScale >= 1, "a logarithm is multiplied by 1 or more, not " + outputScale);
        Check.that(
                correctionBits >= 0 && correctionBits < Integer.SIZE,
                "a shift by " + correctionBits + " bits is not one by 0 to 31");
    }

    @Override
    public String name() {
        return "tfl.signal_filter_bank_log";
    }

    @Override
    public int arity() {
        return 1;
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes("output_scale", outputScale, "input_correction_bits", correctionBits);
    }

    @Override
    public TensorType inferred(List<TensorType> args) {
        Check.dtype("data", args.get(0), DType.UINT32);
        return new TensorType(args.get(0).shape(), DType.INT16);
    }
}
