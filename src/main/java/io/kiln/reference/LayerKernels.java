// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference;

import static io.kiln.reference.OperatorKernel.pure;

import io.kiln.ir.op.AvgPool2d;
import io.kiln.ir.op.BiasAdd;
import io.kiln.ir.op.Clip;
import io.kiln.ir.op.Conv2d;
import io.kiln.ir.op.Conv2dTranspose;
import io.kiln.ir.op.Copy;
import io.kiln.ir.op.Dense;
import io.kiln.ir.op.MaxPool2d;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.QnnAdd;
import io.kiln.ir.op.QnnConv2d;
import io.kiln.ir.op.QnnConv2dTranspose;
import io.kiln.ir.op.QnnDense;
import io.kiln.ir.op.QnnDequantize;
import io.kiln.ir.op.QnnQuantize;
import io.kiln.ir.op.QnnRequantize;
import io.kiln.ir.op.Reshape;
import io.kiln.ir.op.Softmax;
import io.kiln.ir.op.TflRequantize;
import io.kiln.ir.op.TflSoftmax;
import java.util.Map;

/** Kernels of the layers of convolutional networks. */
final class LayerKernels {
    static final Map<Class<? extends Op>, OperatorKernel<Op>> ALL = Map.ofEntries(
            pure(Conv2d.class, Convolutions::real),
            pure(QnnConv2d.class, Convolutions::quantized),
            pure(Conv2dTranspose.class, TransposedConvolutions::real),
            pure(QnnConv2dTranspose.class, TransposedConvolutions::quantized),
            pure(Dense.class, DenseLayers::real),
            pure(QnnDense.class, DenseLayers::quantized),
            pure(BiasAdd.class, Elementwise::biasAdd),
            pure(Clip.class, Elementwise::clip),
            pure(QnnAdd.class, Elementwise::addQuantized),
            pure(AvgPool2d.class, Pools::average),
            pure(MaxPool2d.class, Pools::maximum),
            pure(Softmax.class, Softmaxes::real),
            pure(TflSoftmax.class, Softmaxes::quantized),
            pure(QnnQuantize.class, Rescaling::quantize),
            pure(QnnDequantize.class, Rescaling::dequantize),
            pure(TflRequantize.class, Rescaling::requantize),
            pure(QnnRequantize.class, Rescaling::requantizeOnce),
            pure(Reshape.class, (op, args, type) -> args.get(0).reshaped(type)),
            pure(Copy.class, (op, args, type) -> args.get(0)));

    private LayerKernels() {}
}
