// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference;

import io.kiln.ir.op.Add;
import io.kiln.ir.op.AvgPool2d;
import io.kiln.ir.op.BiasAdd;
import io.kiln.ir.op.Clip;
import io.kiln.ir.op.Conv2d;
import io.kiln.ir.op.Dense;
import io.kiln.ir.op.MaxPool2d;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.QnnAdd;
import io.kiln.ir.op.QnnConv2d;
import io.kiln.ir.op.QnnDense;
import io.kiln.ir.op.QnnDequantize;
import io.kiln.ir.op.QnnQuantize;
import io.kiln.ir.op.Reshape;
import io.kiln.ir.op.Softmax;
import io.kiln.ir.op.TflRequantize;
import io.kiln.ir.op.TflSoftmax;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;

/** Finds the kernel of an operator. */
final class Kernels {
    /** Computes an operator's result of a known type from its arguments. */
    private interface Kernel<O extends Op> {
        Tensor run(O op, List<Tensor> args, TensorType type);
    }

    private static final Map<Class<? extends Op>, Kernel<Op>> BY_OPERATOR = Map.ofEntries(
            entry(Conv2d.class, Convolutions::real),
            entry(QnnConv2d.class, Convolutions::quantized),
            entry(Dense.class, DenseLayers::real),
            entry(QnnDense.class, DenseLayers::quantized),
            entry(BiasAdd.class, Elementwise::biasAdd),
            entry(Clip.class, Elementwise::clip),
            entry(Add.class, Elementwise::add),
            entry(QnnAdd.class, Elementwise::addQuantized),
            entry(AvgPool2d.class, Pools::average),
            entry(MaxPool2d.class, Pools::maximum),
            entry(Softmax.class, Softmaxes::real),
            entry(TflSoftmax.class, Softmaxes::quantized),
            entry(QnnQuantize.class, Rescaling::quantize),
            entry(QnnDequantize.class, Rescaling::dequantize),
            entry(TflRequantize.class, Rescaling::requantize),
            entry(Reshape.class, (op, args, type) -> args.get(0).reshaped(type)));

    private Kernels() {}

    static Tensor evaluate(Op op, List<Tensor> args, TensorType type) {
        Kernel<Op> kernel = BY_OPERATOR.get(op.getClass());
        if (kernel == null) {
            throw new IllegalArgumentException("the interpreter does not know " + op.name());
        }
        return kernel.run(op, args, type);
    }

    private static <O extends Op> Map.Entry<Class<? extends Op>, Kernel<Op>> entry(Class<O> op, Kernel<O> kernel) {
        return Map.entry(op, (any, args, type) -> kernel.run(op.cast(any), args, type));
    }
}
