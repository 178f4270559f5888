// SPDX-License-Identifier: Apache-2.0
package com.example.vecu;

import io.kiln.base.DType;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Layer;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.Trait;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.type.Shape;
import io.kiln.lower.Requantization;
import io.kiln.partition.CompositePattern;
import io.kiln.partition.Condition;
import io.kiln.partition.ExternalCall;
import io.kiln.partition.ExternalCall.Table;
import io.kiln.partition.Match;
import io.kiln.partition.PatternStep;
import io.kiln.base.Bytes;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/** What the unit takes: a convolution of int8 with its bias, its rescaling and its limits. */
final class Convolution {
    /** The unit's own layer: the operators in order, and what has to be true of them. */
    static final CompositePattern PATTERN = new CompositePattern(
            VecuCodegen.NAME + ".conv2d",
            List.of(
                    PatternStep.of("qnn.conv2d", QnnConv2d.class),
                    PatternStep.of("nn.bias_add", BiasAdd.class),
                    new PatternStep("qnn.requantize", op -> op.has(Trait.RESCALES), false),
                    PatternStep.of("clip", Clip.class).orNone()),
            List.of(
                    new Condition(
                            "input and output are not int8",
                            match -> match.argument(match.root(), 0).dtype() == DType.INT8
                                    && match.argument(match.root(), 1).dtype() == DType.INT8
                                    && match.result().dtype() == DType.INT8),
                    new Condition("the unit has no groups", match -> layer(match).groups() == 1),
                    new Condition(
                            "the unit has no dilation",
                            match -> layer(match).geometry().dilation().equals(List.of(1, 1))),
                    new Condition("the unit takes one image", match -> match.result().shape().dim(0) == 1),
                    new Condition(
                            "weights or biases are computed",
                            match -> match.root().args().get(1) instanceof Constant
                                    && bias(match).args().get(1) instanceof Constant),
                    new Condition("the kernel's zero point is not 0", match -> isSymmetric(match.root())),
                    new Condition(
                            "the unit rounds as TensorFlow Lite does",
                            match -> rescaling(match).rounding() == Rounding.TFLITE
                                    && rescaling(match).inputZeroPoint() == 0)));

    private final Match match;

    Convolution(Match match) {
        this.match = match;
    }

    private static Layer layer(Match match) {
        return (Layer) match.root().op();
    }

    private static Binding bias(Match match) {
        return match.find(BiasAdd.class).orElseThrow();
    }

    private static boolean isSymmetric(Binding root) {
        Constant zero = root.constant(Layer.KERNEL_ZERO_POINT);
        for (int i = 0; i < zero.elements(); i++) {
            if (zero.integer(i) != 0) {
                return false;
            }
        }
        return true;
    }

    private static Requantization rescaling(Match match) {
        return match.chain().stream()
                .filter(binding -> binding.op().has(Trait.RESCALES))
                .findFirst()
                .map(Requantization::of)
                .orElseThrow();
    }

    /** The tables that the unit reads, and the memory where it gathers one window of the input. */
    ExternalCall call() {
        Requantization by = rescaling(match);
        Constant filter = match.root().constant(1);
        Constant bias = bias(match).constant(1);
        return new ExternalCall(
                List.of(
                        new Table("filter", DType.INT8, filter.data()),
                        new Table("bias", DType.INT32, bias.data()),
                        new Table("multiplier", DType.INT32, perChannel(by.multipliers())),
                        new Table("shift", DType.INT32, perChannel(by.shifts()))),
                windowBytes(),
                "commands of the vector unit");
    }

    private long windowBytes() {
        Window window = layer(match).geometry();
        return (long) window.kernelH() * window.kernelW() * input().dim(3);
    }

    private Bytes perChannel(List<Integer> values) {
        int channels = match.result().shape().dim(3);
        ByteBuffer data = ByteBuffer.allocate(channels * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < channels; i++) {
            data.putInt(values.get(values.size() == 1 ? 0 : i));
        }
        return Bytes.wrap(data.array());
    }

    private Shape input() {
        return match.argument(match.root(), 0).shape();
    }

    /**
     * The unit's program.
     *
     * @param lanes channels that it computes at once
     */
    List<Integer> stream(int lanes) {
        Shape in = input();
        Shape out = match.result().shape();
        Window window = layer(match).geometry();
        List<Command> commands = new ArrayList<>();
        commands.add(Command.of(
                Command.Code.SHAPE, in.dim(1), in.dim(2), in.dim(3), out.dim(1), out.dim(2), out.dim(3)));
        commands.add(Command.of(
                Command.Code.WINDOW,
                window.kernelH(),
                window.kernelW(),
                window.strideH(),
                window.strideW(),
                window.padTop(),
                window.padLeft()));
        int inputZero = (int) match.root().constant(Layer.INPUT_ZERO_POINT).integer(0);
        int least = match.find(Clip.class).map(clip -> (int) ((Clip) clip.op()).min()).orElse((int) DType.INT8.min());
        int most = match.find(Clip.class).map(clip -> (int) ((Clip) clip.op()).max()).orElse((int) DType.INT8.max());
        commands.add(Command.of(
                Command.Code.QUANTIZE, inputZero, rescaling(match).outputZeroPoint(), least, most));
        for (int first = 0; first < out.dim(3); first += lanes) {
            commands.add(Command.of(Command.Code.CONVOLVE, first, Math.min(lanes, out.dim(3) - first)));
        }
        return Command.stream(commands);
    }
}
