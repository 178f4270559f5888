// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.element;

import io.kiln.ir.op.element.Full;
import io.kiln.ir.op.element.Where;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.kernel.Tensor;
import java.util.List;

/** Operators that select elements from one operand or another. */
final class Selections {
    private Selections() {}

    static Tensor where(Where op, List<Tensor> args, TensorType type) {
        int[] conditions = args.get(0).ints();
        int[] at = Elementwise.broadcast(args.get(0).shape(), type.shape());
        Tensor x = args.get(1).gather(Elementwise.broadcast(args.get(1).shape(), type.shape()), type);
        Tensor y = args.get(2).gather(Elementwise.broadcast(args.get(2).shape(), type.shape()), type);
        if (type.dtype().isFloat()) {
            float[] result = y.floats().clone();
            for (int i = 0; i < result.length; i++) {
                result[i] = conditions[at[i]] != 0 ? x.floats()[i] : result[i];
            }
            return Tensor.of(type, result);
        }
        if (type.dtype().isLong()) {
            long[] result = y.longs().clone();
            for (int i = 0; i < result.length; i++) {
                result[i] = conditions[at[i]] != 0 ? x.longs()[i] : result[i];
            }
            return Tensor.of(type, result);
        }
        int[] result = y.ints().clone();
        for (int i = 0; i < result.length; i++) {
            result[i] = conditions[at[i]] != 0 ? x.ints()[i] : result[i];
        }
        return Tensor.of(type, result);
    }

    static Tensor full(Full op, List<Tensor> args, TensorType type) {
        return args.get(0).gather(new int[Math.toIntExact(type.shape().elements())], type);
    }
}
