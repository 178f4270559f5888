// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.Origin;
import io.kiln.ir.Parameter;
import io.kiln.ir.Result;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.nio.IntBuffer;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;

/** The interpreter's convolution against the definition, over random geometry. */
class ConvolutionTest {
    private record Case(Window window, Shape data, int groups, int multiplier, boolean depthwise, int zeroPoint) {
        int channels() {
            return groups * multiplier;
        }

        int depth() {
            return data.dim(3) / groups;
        }

        Shape weights() {
            return depthwise
                    ? Shape.of(window.kernelH(), window.kernelW(), groups, multiplier)
                    : Shape.of(channels(), window.kernelH(), window.kernelW(), depth());
        }

        int weightIndex(int o, int kh, int kw, int c) {
            int tap = kh * window.kernelW() + kw;
            int taps = window.kernelH() * window.kernelW();
            return depthwise ? tap * channels() + o : (o * taps + tap) * depth() + c;
        }
    }

    @RepeatedTest(60)
    void convolutionFollowsItsDefinition(RepetitionInfo repetition) {
        Random random = new Random(repetition.getCurrentRepetition());
        Case c = randomCase(random);
        byte[] data = new byte[(int) c.data.elements()];
        byte[] weights = new byte[(int) c.weights().elements()];
        random.nextBytes(data);
        random.nextBytes(weights);
        Function function = function(c, weights);
        IntBuffer actual = Interpreter.run(function, List.of(Bytes.copyOf(data)))
                .get(0)
                .buffer()
                .asIntBuffer();
        Shape output = function.bindings().get(0).type().shape();
        for (int n = 0; n < output.dim(0); n++) {
            for (int y = 0; y < output.dim(1); y++) {
                for (int x = 0; x < output.dim(2); x++) {
                    for (int o = 0; o < output.dim(3); o++) {
                        assertThat(actual.get()).isEqualTo(expected(c, data, weights, n, y, x, o));
                    }
                }
            }
        }
    }

    private static int expected(Case c, byte[] data, byte[] weights, int n, int y, int x, int o) {
        Window w = c.window;
        int sum = 0;
        for (int kh = 0; kh < w.kernelH(); kh++) {
            for (int kw = 0; kw < w.kernelW(); kw++) {
                int row = y * w.strideH() - w.padTop() + kh * w.dilationH();
                int column = x * w.strideW() - w.padLeft() + kw * w.dilationW();
                boolean inside = row >= 0 && column >= 0 && row < c.data.dim(1) && column < c.data.dim(2);
                for (int i = 0; inside && i < c.depth(); i++) {
                    int channel = o / c.multiplier * c.depth() + i;
                    int at = ((n * c.data.dim(1) + row) * c.data.dim(2) + column) * c.data.dim(3) + channel;
                    sum += (data[at] - c.zeroPoint) * weights[c.weightIndex(o, kh, kw, i)];
                }
            }
        }
        return sum;
    }

    private static Function function(Case c, byte[] weights) {
        TensorType dataType = new TensorType(c.data, DType.INT8);
        Constant kernel = new Constant("w", new TensorType(c.weights(), DType.INT8), Bytes.copyOf(weights));
        QnnConv2d op = new QnnConv2d(c.window, c.groups, c.channels(), c.depthwise ? "HWOI" : "OHWI");
        List<Arg> args = List.of(
                new Arg.Ref(0),
                kernel,
                Constant.scalar(c.zeroPoint),
                Constant.scalar(0),
                Constant.scalar(1f),
                Constant.scalar(1f));
        TensorType type = op.infer(List.of(
                dataType,
                kernel.type(),
                Constant.scalar(0).type(),
                Constant.scalar(0).type(),
                Constant.scalar(1f).type(),
                Constant.scalar(1f).type()));
        return new Function(
                "conv",
                List.of(new Parameter(0, "x", dataType, Optional.empty())),
                List.of(new Binding(1, op, args, type, new Origin("test", 0, "CONV_2D", "y"))),
                List.of(new Result(1, "y", Optional.empty())));
    }

    private static Case randomCase(Random random) {
        boolean depthwise = random.nextBoolean();
        int groups = (depthwise ? 2 : 1) + random.nextInt(3);
        int depth = depthwise ? 1 : 2 + random.nextInt(3);
        Window window = Window.of(1 + random.nextInt(3), 1 + random.nextInt(3))
                .strided(1 + random.nextInt(3), 1 + random.nextInt(3))
                .dilated(1 + random.nextInt(2), 1 + random.nextInt(2))
                .padded(random.nextInt(4), random.nextInt(4), random.nextInt(4), random.nextInt(4));
        Shape data = Shape.of(
                1 + random.nextInt(2),
                window.spanH() + random.nextInt(5),
                window.spanW() + random.nextInt(5),
                groups * depth);
        return new Case(window, data, groups, 1 + random.nextInt(3), depthwise, random.nextInt(256) - 128);
    }
}
