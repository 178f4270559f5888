// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.Verifier;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.layer.Conv2d;
import io.kiln.quantize.FloatNet;
import io.kiln.quantize.sample.Sample;
import io.kiln.reference.Interpreter;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;

class FoldChannelFactorsTest {
    private static final Window SAME = Window.of(3, 3).padded(1, 1, 1, 1);

    private final FloatNet net = new FloatNet(1);

    private static List<String> operators(Function function) {
        return function.bindings().stream().map(b -> b.op().name()).toList();
    }

    private static Function folded(Function function) {
        Function folded = new FoldChannelFactors().run(function);
        Verifier.verify(folded);
        Sample sample = FloatNet.samples(function, 1, 2).get(0);
        ByteBuffer before = Interpreter.run(function, sample.inputs()).get(0).buffer();
        ByteBuffer after = Interpreter.run(folded, sample.inputs()).get(0).buffer();
        assertThat(after.remaining()).isEqualTo(before.remaining()).isPositive();
        while (before.hasRemaining()) {
            float expected = before.getFloat();
            assertThat(after.getFloat()).isCloseTo(expected, within(1e-4f + 1e-4f * Math.abs(expected)));
        }
        return folded;
    }

    private Arg.Ref normalized(Arg.Ref data) {
        int channels = net.shape(data).dim(-1);
        Arg.Ref scaled = net.bind(new Binary(Binary.Kind.MULTIPLY), data, net.constant(2, channels));
        return net.bind(new Binary(Binary.Kind.ADD), net.constant(1, 1, 1, 1, channels), scaled);
    }

    @Test
    void aNormalizationAfterAConvolutionWithBiasIsGone() {
        Arg.Ref end = net.relu(normalized(net.conv(net.input(1, 5, 4, 3), SAME, 6)));
        assertThat(operators(folded(net.function(end)))).containsExactly("nn.conv2d", "nn.bias_add", "clip");
    }

    @Test
    void aNormalizationAfterALayerWithoutBiasBecomesItsBias() {
        Arg.Ref sums = net.bind(new Conv2d(SAME, 3, 3, "HWOI"), net.input(1, 5, 4, 3), net.constant(1, 3, 3, 3, 1));
        assertThat(operators(folded(net.function(normalized(sums))))).containsExactly("nn.conv2d", "nn.bias_add");
    }

    @Test
    void quotientsAndDifferencesAreFoldedIntoFullyConnectedLayers() {
        Arg.Ref dense = net.dense(net.input(2, 5), 4);
        Arg.Ref less = net.bind(new Binary(Binary.Kind.SUBTRACT), dense, net.constant(1, 4));
        Arg.Ref end = net.bind(new Binary(Binary.Kind.DIVIDE), less, Constant.scalar(3f));
        assertThat(operators(folded(net.function(end)))).containsExactly("nn.dense", "nn.bias_add");
    }

    @Test
    void aSumThatSomethingElseReadsStays() {
        Arg.Ref conv = net.conv(net.input(1, 5, 4, 3), SAME, 6);
        Arg.Ref scaled = net.bind(new Binary(Binary.Kind.MULTIPLY), conv, Constant.scalar(2f));
        Arg.Ref end = net.bind(new Binary(Binary.Kind.MAXIMUM), conv, scaled);
        assertThat(operators(folded(net.function(end))))
                .containsExactly("nn.conv2d", "nn.bias_add", "multiply", "maximum");
    }

    @Test
    void constantsThatDifferWithinAChannelStay() {
        Arg.Ref conv = net.conv(net.input(1, 5, 4, 3), SAME, 6);
        Arg.Ref end = net.bind(new Binary(Binary.Kind.ADD), conv, net.constant(1, 1, 5, 4, 1));
        assertThat(operators(folded(net.function(end)))).containsExactly("nn.conv2d", "nn.bias_add", "add");
    }

    @Test
    void aConstantMinusTheSumStays() {
        Arg.Ref conv = net.conv(net.input(1, 5, 4, 3), SAME, 6);
        Arg.Ref end = net.bind(new Binary(Binary.Kind.SUBTRACT), Constant.scalar(1f), conv);
        assertThat(operators(folded(net.function(end)))).containsExactly("nn.conv2d", "nn.bias_add", "subtract");
    }
}
