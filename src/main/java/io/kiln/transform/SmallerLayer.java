// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.base.Bytes;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.op.layer.QnnDense;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;

/** A quantized convolution or dense layer with the channels that are kept. */
final class SmallerLayer {
    private final Binding layer;
    private final int inputsBefore;
    private final int outputsBefore;
    private final int[] inputs;
    private final int[] outputs;

    SmallerLayer(Binding layer, KeptChannels kept) {
        this.layer = layer;
        this.inputsBefore = kept.before(layer.ref(0));
        this.outputsBefore = kept.before(layer.id());
        this.inputs = kept.of(layer.ref(0));
        this.outputs = kept.of(layer.id());
    }

    /** A depthwise convolution of one channel is an ordinary one. */
    Op op() {
        if (!(layer.op() instanceof QnnConv2d conv)) {
            return new QnnDense(outputs.length);
        }
        if (!isDepthwise()) {
            return new QnnConv2d(conv.window(), conv.groups(), outputs.length, conv.kernelLayout());
        }
        String layout = inputs.length == 1 ? "OHWI" : conv.kernelLayout();
        return new QnnConv2d(conv.window(), inputs.length, outputs.length, layout);
    }

    /** The arguments after the data. */
    List<Arg> parameters() {
        List<Arg> parameters =
                new ArrayList<>(layer.args().subList(1, layer.args().size()));
        parameters.set(0, weight(layer.constant(1)));
        parameters.set(4, Gather.channels(layer.constant(5), outputsBefore, outputs));
        return parameters;
    }

    private boolean isDepthwise() {
        return layer.op() instanceof QnnConv2d conv && conv.isDepthwise(inputsBefore);
    }

    private Constant weight(Constant weight) {
        if (isDepthwise()) {
            Constant left = Gather.of(weight, 2, inputs);
            return inputs.length == 1 ? outputsFirst(left) : left;
        }
        boolean grouped = layer.op() instanceof QnnConv2d conv && conv.groups() > 1;
        return grouped
                ? weight
                : Gather.of(Gather.of(weight, 0, outputs), weight.type().shape().rank() - 1, inputs);
    }

    /** A kernel of one input channel, from HWIO to OHWI. */
    private static Constant outputsFirst(Constant weight) {
        Shape shape = weight.type().shape();
        int taps = shape.dim(0) * shape.dim(1);
        int outputs = shape.dim(3);
        byte[] transposed = new byte[taps * outputs];
        for (int i = 0; i < transposed.length; i++) {
            transposed[i] = weight.data().get(i % taps * outputs + i / taps);
        }
        Shape ohwi = Shape.of(outputs, shape.dim(0), shape.dim(1), 1);
        return new Constant(weight.name(), new TensorType(ohwi, weight.type().dtype()), Bytes.wrap(transposed));
    }
}
