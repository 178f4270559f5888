// SPDX-License-Identifier: Apache-2.0
package com.example.vecu;

import io.kiln.spi.CallArguments;
import io.kiln.spi.ElementType;
import io.kiln.spi.Operator;
import io.kiln.spi.OperatorChain;
import io.kiln.spi.OperatorPattern;
import io.kiln.spi.PatternStep;
import io.kiln.spi.Rescaling;
import io.kiln.spi.Table;
import io.kiln.spi.Tensor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** What the unit takes: a convolution of int8 with its bias, its rescaling and its limits. */
final class Convolution {
    private static final String CONV2D = "qnn.conv2d";
    private static final String BIAS = "nn.bias_add";
    private static final String CLIP = "clip";

    /** Positions among the arguments of qnn.conv2d. */
    private static final int INPUT_ZERO_POINT = 2;

    private static final int KERNEL_ZERO_POINT = 3;

    /** The unit's own layer: the operators in order, and what has to be true of them. */
    static final OperatorPattern PATTERN = OperatorPattern.of(
                    VecuCodegen.NAME + ".conv2d",
                    PatternStep.of(CONV2D),
                    PatternStep.of(BIAS),
                    PatternStep.rescaling(),
                    PatternStep.of(CLIP).orNone())
            .onlyIf(
                    "input and output are not int8",
                    chain -> layer(chain).arguments().get(0).type() == ElementType.INT8
                            && layer(chain).arguments().get(1).type() == ElementType.INT8
                            && chain.output().type() == ElementType.INT8)
            .onlyIf("the unit has no groups", chain -> layer(chain).number("groups") == 1)
            .onlyIf(
                    "the unit has no dilation",
                    chain -> layer(chain).integers("dilation").equals(List.of(1, 1)))
            .onlyIf("the unit takes one image", chain -> chain.output().shape().get(0) == 1)
            .onlyIf(
                    "weights or biases are computed",
                    chain -> layer(chain).arguments().get(1).isConstant()
                            && bias(chain).isConstant())
            .onlyIf(
                    "the kernel's zero point is not 0",
                    chain -> isZero(layer(chain).arguments().get(KERNEL_ZERO_POINT)))
            .onlyIf(
                    "the unit rounds as TensorFlow Lite does",
                    chain -> rescaling(chain).rounding().equals("TFLITE")
                            && rescaling(chain).inputZeroPoint() == 0);

    private final OperatorChain chain;

    Convolution(OperatorChain chain) {
        this.chain = chain;
    }

    private static Operator layer(OperatorChain chain) {
        return chain.operators().get(0);
    }

    private static Tensor bias(OperatorChain chain) {
        return chain.find(BIAS).orElseThrow().arguments().get(1);
    }

    private static Rescaling rescaling(OperatorChain chain) {
        return chain.rescaling().orElseThrow();
    }

    private static boolean isZero(Tensor zero) {
        for (int i = 0; i < zero.elements(); i++) {
            if (zero.integer(i) != 0) {
                return false;
            }
        }
        return true;
    }

    /** The tables that the unit reads, and the memory where it gathers one window of the input. */
    CallArguments call() {
        Rescaling by = rescaling(chain);
        return new CallArguments(
                List.of(
                        Table.of("filter", layer(chain).arguments().get(1)),
                        Table.of("bias", bias(chain)),
                        Table.ofInts("multiplier", perChannel(by.multipliers())),
                        Table.ofInts("shift", perChannel(by.shifts()))),
                windowBytes(),
                "commands of the vector unit");
    }

    private long windowBytes() {
        List<Integer> window = layer(chain).integers("kernel_size");
        return (long) window.get(0) * window.get(1) * input().get(3);
    }

    private List<Integer> perChannel(List<Integer> values) {
        return values.size() == 1 ? Collections.nCopies(chain.output().shape().get(3), values.get(0)) : values;
    }

    private List<Integer> input() {
        return layer(chain).arguments().get(0).shape();
    }

    /**
     * The unit's program.
     *
     * @param lanes channels that it computes at once
     */
    List<Integer> stream(int lanes) {
        List<Integer> in = input();
        List<Integer> out = chain.output().shape();
        List<Integer> window = layer(chain).integers("kernel_size");
        List<Integer> strides = layer(chain).integers("strides");
        List<Integer> padding = layer(chain).integers("padding");
        List<Command> commands = new ArrayList<>();
        commands.add(
                Command.of(Command.Code.SHAPE, in.get(1), in.get(2), in.get(3), out.get(1), out.get(2), out.get(3)));
        commands.add(Command.of(
                Command.Code.WINDOW,
                window.get(0),
                window.get(1),
                strides.get(0),
                strides.get(1),
                padding.get(0),
                padding.get(1)));
        int inputZero = (int) layer(chain).arguments().get(INPUT_ZERO_POINT).integer(0);
        int least = chain.find(CLIP).map(clip -> (int) clip.number("a_min")).orElse((int) Byte.MIN_VALUE);
        int most = chain.find(CLIP).map(clip -> (int) clip.number("a_max")).orElse((int) Byte.MAX_VALUE);
        commands.add(
                Command.of(Command.Code.QUANTIZE, inputZero, rescaling(chain).outputZeroPoint(), least, most));
        for (int first = 0; first < out.get(3); first += lanes) {
            commands.add(Command.of(Command.Code.CONVOLVE, first, Math.min(lanes, out.get(3) - first)));
        }
        return Command.stream(commands);
    }
}
