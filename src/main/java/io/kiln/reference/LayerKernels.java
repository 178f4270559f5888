// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference;

import static io.kiln.reference.Kernels.entry;

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
    static final Map<Class<? extends Op>, Kernels.Kernel<Op>> ALL = Map.ofEntries(
            entry(Conv2d.class, Convolutions::real),
            entry(QnnConv2d.class, Convolutions::quantized),
            entry(Conv2dTranspose.class, TransposedConvolutions::real),
            entry(QnnConv2dTranspose.class, TransposedConvolutions::quantized),
            entry(Dense.class, DenseLayers::real),
            entry(QnnDense.class, DenseLayers::quantized),
            entry(BiasAdd.class, Elementwise::biasAdd),
            entry(Clip.class, Elementwise::clip),
            entry(QnnAdd.class, Elementwise::addQuantized),
            entry(AvgPool2d.class, Pools::average),
            entry(MaxPool2d.class, Pools::maximum),
            entry(Softmax.class, Softmaxes::real),
            entry(TflSoftmax.class, Softmaxes::quantized),
            entry(QnnQuantize.class, Rescaling::quantize),
            entry(QnnDequantize.class, Rescaling::dequantize),
            entry(TflRequantize.class, Rescaling::requantize),
            entry(QnnRequantize.class, Rescaling::requantizeOnce),
            entry(Reshape.class, (op, args, type) -> args.get(0).reshaped(type)),
            entry(Copy.class, (op, args, type) -> args.get(0)));

    private LayerKernels() {}
}
