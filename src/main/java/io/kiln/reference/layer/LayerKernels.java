// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.layer;

import static io.kiln.reference.kernel.OperatorKernel.pure;

import io.kiln.ir.op.Op;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.OnnxRequantize;
import io.kiln.ir.op.element.QnnAdd;
import io.kiln.ir.op.element.QnnDequantize;
import io.kiln.ir.op.element.QnnQuantize;
import io.kiln.ir.op.element.QnnRequantize;
import io.kiln.ir.op.element.TflRealRequantize;
import io.kiln.ir.op.element.TflRequantize;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.BlockDense;
import io.kiln.ir.op.layer.Conv2d;
import io.kiln.ir.op.layer.Conv2dTranspose;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.layer.MaxPool2d;
import io.kiln.ir.op.layer.OnnxAveragePool;
import io.kiln.ir.op.layer.OnnxResize2d;
import io.kiln.ir.op.layer.OnnxSoftmax;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.op.layer.QnnConv2dTranspose;
import io.kiln.ir.op.layer.QnnDense;
import io.kiln.ir.op.layer.Softmax;
import io.kiln.ir.op.layer.TflSoftmax;
import io.kiln.ir.op.layer.TreeEnsemble;
import io.kiln.ir.op.movement.Copy;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.reference.element.Elementwise;
import io.kiln.reference.element.Rescaling;
import io.kiln.reference.kernel.OperatorKernel;
import java.util.Map;

/** Kernels of the layers of convolutional networks. */
public final class LayerKernels {
    public static final Map<Class<? extends Op>, OperatorKernel<Op>> ALL = Map.ofEntries(
            pure(Conv2d.class, Convolutions::real),
            pure(QnnConv2d.class, Convolutions::quantized),
            pure(Conv2dTranspose.class, TransposedConvolutions::real),
            pure(QnnConv2dTranspose.class, TransposedConvolutions::quantized),
            pure(Dense.class, DenseLayers::real),
            pure(QnnDense.class, DenseLayers::quantized),
            pure(BlockDense.class, DenseLayers::blocks),
            pure(BiasAdd.class, Elementwise::biasAdd),
            pure(Clip.class, Elementwise::clip),
            pure(QnnAdd.class, Elementwise::addQuantized),
            pure(AvgPool2d.class, Pools::average),
            pure(MaxPool2d.class, Pools::maximum),
            pure(Softmax.class, Softmaxes::real),
            pure(TflSoftmax.class, Softmaxes::quantized),
            pure(TreeEnsemble.class, TreeKernel::run),
            pure(OnnxSoftmax.class, OnnxLayers::softmax),
            pure(OnnxAveragePool.class, OnnxLayers::average),
            pure(OnnxResize2d.class, OnnxLayers::resize),
            pure(QnnQuantize.class, Rescaling::quantize),
            pure(QnnDequantize.class, Rescaling::dequantize),
            pure(TflRequantize.class, Rescaling::requantize),
            pure(QnnRequantize.class, Rescaling::requantizeOnce),
            pure(OnnxRequantize.class, Rescaling::requantizeWithBias),
            pure(TflRealRequantize.class, Rescaling::requantizeReal),
            pure(Reshape.class, (op, args, type) -> args.get(0).reshaped(type)),
            pure(Copy.class, (op, args, type) -> args.get(0)));

    private LayerKernels() {}
}
