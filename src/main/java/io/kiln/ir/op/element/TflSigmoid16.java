// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.element;

import io.kiln.base.DType;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;

/**
 * The logistic function or hyperbolic tangent of int16 in TensorFlow Lite's fixed point (integer_ops/logistic.h and
 * tanh.h): linear interpolation in a table of the logistic function at multiples of 1/24; see {@link
 * io.kiln.ir.arith.TflSigmoid}. Argument: data, int16 with zero point 0. The result's scale is 1/32768.
 *
 * @param kind the function
 * @param multiplier 1 to 32767; {@code (data * multiplier) / 2^shift}, rounded, is the argument in steps of 1/12288
 * @param shift 0 to 31
 */
public record TflSigmoid16(Kind kind, int multiplier, int shift) implements Op {
    /** The functions. */
    public enum Kind {
        LOGISTIC("tfl.logistic16"),
        TANH("tfl.tanh16");

        private final String relay;

        Kind(String relay) {
            this.relay = relay;
        }
    }

    public TflSigmoid16 {
        Check.that(
                multiplier > 0 && multiplier <= Short.MAX_VALUE,
                kind.relay + " takes a multiplier from 1 to 32767, not " + multiplier);
        Check.that(shift >= 0 && shift < Integer.SIZE, kind.relay + " takes a shift from 0 to 31, not " + shift);
    }

    @Override
    public String name() {
        return kind.relay;
    }

    @Override
    public int arity() {
        return 1;
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes("multiplier", multiplier, "shift", shift);
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.dtype("data", args.get(0), DType.INT16);
        return args.get(0);
    }
}
