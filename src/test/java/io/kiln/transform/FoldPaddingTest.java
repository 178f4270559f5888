// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.GraphBuilder;
import io.kiln.ir.Origin;
import io.kiln.ir.Result;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.layer.Conv2d;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.ConstantFolder;
import io.kiln.reference.Interpreter;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class FoldPaddingTest {
    private static final int ZERO_POINT = -3;
    private static final TensorType INTS = new TensorType(Shape.of(1, 5, 6, 2), DType.INT8);
    private static final Pad BORDER = new Pad(List.of(0, 1, 2, 0), List.of(0, 2, 0, 0));

    private final GraphBuilder graph = new GraphBuilder(new ConstantFolder(0));

    private Arg bind(Op op, Arg... args) {
        int id = 1 + graph.bindings().size();
        return graph.call(op, List.of(args), new Origin("test", 0, op.name(), "t" + id));
    }

    private Function quantized(Pad pad, int border) {
        TensorType scalar = new TensorType(Shape.scalar(), DType.INT8);
        Constant value = new Constant("", scalar, Bytes.wrap(new byte[] {(byte) border}));
        Arg padded = bind(pad, graph.parameter("x", INTS, Optional.empty()), value);
        TensorType type = graph.type(padded);
        byte[] weights = new byte[4 * 3 * 3 * type.shape().dim(3)];
        new Random(1).nextBytes(weights);
        Shape kernel = Shape.of(4, 3, 3, type.shape().dim(3));
        bind(
                new QnnConv2d(Window.of(3, 3).strided(2, 1).padded(1, 0, 0, 1), 1, 4, "OHWI"),
                padded,
                new Constant("", new TensorType(kernel, DType.INT8), Bytes.wrap(weights)),
                Constant.scalar(ZERO_POINT),
                Constant.scalar(0),
                Constant.scalar(0.5f),
                Constant.scalar(0.5f));
        return function();
    }

    private Function function() {
        return graph.build("test", List.of(new Result(2, "y", Optional.empty())));
    }

    private static List<String> operators(Function function) {
        return function.bindings().stream().map(b -> b.op().name()).toList();
    }

    @Test
    void aConvolutionPadsForItselfAndAnswersTheSame() {
        Function before = quantized(BORDER, ZERO_POINT);
        Function after = Pipeline.standard().run(before);
        assertThat(operators(after)).containsExactly("qnn.conv2d");
        Window window = ((QnnConv2d) after.bindings().get(0).op()).window();
        assertThat(window.padding()).containsExactly(2, 2, 2, 1);
        byte[] input = new byte[(int) INTS.bytes()];
        new Random(2).nextBytes(input);
        assertThat(Interpreter.run(after, List.of(Bytes.wrap(input))))
                .isEqualTo(Interpreter.run(before, List.of(Bytes.wrap(input))));
    }

    @Test
    void paddingWithAnotherValueStays() {
        assertThat(operators(Pipeline.standard().run(quantized(BORDER, ZERO_POINT + 1))))
                .containsExactly("nn.pad", "qnn.conv2d");
    }

    @Test
    void paddingOfChannelsStays() {
        Pad channels = new Pad(List.of(0, 1, 1, 0), List.of(0, 1, 1, 1));
        assertThat(operators(Pipeline.standard().run(quantized(channels, ZERO_POINT))))
                .contains("nn.pad");
    }

    @Test
    void paddingWiderThanTheWindowStays() {
        Pad wide = new Pad(List.of(0, 3, 0, 0), List.of(0, 0, 0, 0));
        assertThat(operators(Pipeline.standard().run(quantized(wide, ZERO_POINT))))
                .containsExactly("nn.pad", "qnn.conv2d");
    }

    @Test
    void floatsArePaddedWithZero() {
        TensorType floats = new TensorType(Shape.of(1, 4, 4, 1), DType.FLOAT32);
        Pad pad = new Pad(List.of(0, 1, 1, 0), List.of(0, 1, 1, 0));
        Arg padded = bind(pad, graph.parameter("x", floats, Optional.empty()), Constant.scalar(0f));
        Constant weight = new Constant(
                "",
                new TensorType(Shape.of(1, 3, 3, 1), DType.FLOAT32),
                Constant.vector(1f, 2f, 3f, 4f, 5f, 6f, 7f, 8f, 9f).data());
        Window window = Window.of(3, 3);
        bind(new Conv2d(window, 1, 1, "OHWI"), padded, weight);
        assertThat(operators(Pipeline.standard().run(function()))).containsExactly("nn.conv2d");
    }
}
