// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.draw.RandomOperators;
import io.kiln.frontend.tflite.TfliteFrontend;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.Verifier;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.reference.GoldenModels;
import io.kiln.reference.Interpreter;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.OwnModel;
import io.kiln.transform.ChannelRanges.Range;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.FieldSource;

class RemoveConstantChannelsPropertyTest {
    private static final int NETS = 4000;

    static final List<String> INTEGER = GoldenModels.INTEGER;

    private static Function transformed(Function function) {
        Verifier.verify(function);
        Function result = new RemoveConstantChannels().run(function);
        Verifier.verify(result);
        return result;
    }

    @Test
    void randomNetsAnswerTheSameWithFewerChannels() {
        int smaller = 0;
        int unchanged = 0;
        for (long seed = 0; seed < NETS; seed++) {
            Function before = RandomNets.next(seed);
            Function after = transformed(before);
            boolean same = after.bindings().size() == before.bindings().size() && macs(after) == macs(before);
            smaller += same ? 0 : 1;
            unchanged += same ? 1 : 0;
            for (int k = 0; k < 4; k++) {
                List<Bytes> input =
                        List.of(RandomOperators.input(before.params().get(0).type(), seed * 31 + k));
                assertThat(Interpreter.run(after, input)).as("seed %d", seed).isEqualTo(Interpreter.run(before, input));
            }
        }
        assertThat(smaller).isGreaterThan(NETS / 2);
        assertThat(unchanged).isGreaterThan(NETS / 100);
    }

    /** A channel that the analysis calls constant is, and no value leaves its range. */
    @Test
    void rangesHoldWhatChannelsTakeOn() {
        for (long seed = 0; seed < NETS / 4; seed++) {
            Function function = RandomNets.next(seed);
            Map<Integer, List<Range>> ranges = ChannelRanges.of(function);
            List<Bytes> input =
                    List.of(RandomOperators.input(function.params().get(0).type(), seed));
            Interpreter.runAll(function, input).forEach((id, value) -> {
                List<Range> channels = ranges.get(id);
                int width = function.types().get(id).dtype().bytes();
                for (int i = 0; i < value.size() / width; i++) {
                    long element = width == 1 ? value.get(i) : value.buffer().getInt(4 * i);
                    Range range = channels.get(i % channels.size());
                    assertThat(element).isBetween(range.low(), range.high());
                }
            });
        }
    }

    @ParameterizedTest
    @FieldSource("INTEGER")
    @NeedsShared("golden")
    void goldenModelsAnswerTheSame(String model) {
        Function before = TfliteFrontend.read(GoldenModels.model(model), "default");
        Function after = transformed(before);
        for (int k : GoldenModels.cases(model)) {
            List<Bytes> inputs = GoldenModels.inputs(model, before, k);
            assertThat(Interpreter.run(after, inputs)).as("case %d", k).isEqualTo(Interpreter.run(before, inputs));
        }
    }

    @ParameterizedTest
    @EnumSource(OwnModel.class)
    void ownModelsAnswerTheSame(OwnModel model) {
        Function before = model.read();
        assertThat(Interpreter.run(transformed(before), model.inputs(1)))
                .isEqualTo(Interpreter.run(before, model.inputs(1)));
    }

    /**
     * 971 kernels of its 1x1 convolutions are zero; all go, through depthwise layers whose maps they leave uniform. That makes
     * 3,742,047 multiply-accumulates and 29,536 weights; eight more channels are constant by their ranges.
     */
    @Test
    @NeedsShared("golden")
    void halfOfTheVisualWakeWordsModelIsConstant() {
        Function before = TfliteFrontend.read(GoldenModels.model("vww_96_int8"), "default");
        Function after = transformed(before);
        assertThat(convolutionMacs(before)).isEqualTo(7_489_152);
        assertThat(convolutionMacs(after)).isEqualTo(3_727_269);
        assertThat(convolutionWeights(before)).isEqualTo(207_600);
        assertThat(convolutionWeights(after)).isEqualTo(29_022);
        assertThat(depthwiseChannels(before) - depthwiseChannels(after)).isEqualTo(737 + 8);
    }

    private static long depthwiseChannels(Function function) {
        return function.bindings().stream()
                .filter(b -> b.op() instanceof QnnConv2d conv && conv.groups() > 1)
                .mapToLong(b -> b.type().shape().dim(3))
                .sum();
    }

    private static long macs(Function function) {
        return function.bindings().stream().mapToLong(Binding::macs).sum();
    }

    private static long convolutionMacs(Function function) {
        return function.bindings().stream()
                .filter(RemoveConstantChannelsPropertyTest::isConvolution)
                .mapToLong(Binding::macs)
                .sum();
    }

    private static long convolutionWeights(Function function) {
        return function.bindings().stream()
                .filter(RemoveConstantChannelsPropertyTest::isConvolution)
                .mapToLong(b -> b.constant(1).elements())
                .sum();
    }

    private static boolean isConvolution(Binding binding) {
        Op op = binding.op();
        return op instanceof QnnConv2d;
    }
}
