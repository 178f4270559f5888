// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.signal;

import io.kiln.base.DType;
import io.kiln.ir.op.Check;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;

/**
 * The natural logarithm of each channel (signal/src/filter_bank_log.cc of TensorFlow Lite Micro). Argument: data, uint32, which is first
 * shifted left. The result is int16: the logarithm times a scale, as {@link io.kiln.ir.arith.ScaledLogarithm} rounds it, at most 32767; 0
 * where 0 or 1 is shifted.
 *
 * @param outputScale what the logarithm is multiplied by, 1 or more
 * @param correctionBits by how many bits the data is shifted left, 0 to 31; what leaves 32 bits is lost
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
