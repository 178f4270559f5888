// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.compile.Frontends;
import io.kiln.compile.ReadOptions;
import io.kiln.compile.RequestDraft;
import io.kiln.frontend.InputShapes;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.Group;
import io.kiln.ir.Group.Composite;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.partition.PartitionGraph.PatternTable;
import io.kiln.reference.GoldenModels;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.OwnModel;
import io.kiln.transform.PassOptions;
import io.kiln.transform.Pipeline;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What stays with Kiln says which condition failed. */
class StayedTest {
    @Test
    @NeedsShared("golden")
    void theFailingConditionIsNamed() {
        assertThat(reasons("kws_ref_model")).containsExactly("no composite of cmsis-nn begins with reshape");
        assertThat(reasons("seanet_conv0")).isEmpty();
        assertThat(reasons("seanet_sub0")).containsExactly("no composite of cmsis-nn begins with qnn.subtract");
        assertThat(reasons("keyword_scrambled"))
                .contains("cmsis-nn.qnn_softmax: input and output are neither both int8 nor both int16");
        assertThat(reasons("kws_ref_model_float32"))
                .contains("cmsis-nn.qnn_conv2d: no qnn.requantize alone follows nn.bias_add");
        assertThat(reasons("hello_world_float"))
                .allMatch(reason -> reason.startsWith("no composite of cmsis-nn begins"));
    }

    @Test
    void whoComesFirstTakesFirst() {
        Function fused = fused(OwnModel.KEYWORDS.model(), "cmsis-nn, c");
        assertThat(fused.groups())
                .filteredOn(group -> group.composite().isPresent())
                .hasSize(12);
        assertThat(fused.groups().stream().flatMap(group -> group.bindings().stream()))
                .doesNotHaveDuplicates()
                .hasSameSizeAs(fused.bindings());
        assertThat(fused.groups()).extracting(Group::name).contains("fused_cmsis_nn_qnn_conv2d");
    }

    /** As many as the published networks have; the detector of persons ends in a convolution of one pixel. */
    @ParameterizedTest
    @CsvSource({
        "vww_96_int8, 27, 1, 1, 0, 1",
        "pretrainedResnet_quant, 9, 1, 1, 3, 1",
        "person_detect, 28, 0, 1, 0, 1",
    })
    @NeedsShared("golden")
    void modelsOfVisionAreTakenLayerByLayer(
            String model, int convolutions, int dense, int pools, int sums, int softmax) {
        Map<String, Long> taken = fused(GoldenModels.model(model), "cmsis-nn, c").groups().stream()
                .flatMap(group -> group.composite().stream())
                .collect(Collectors.groupingBy(Composite::name, Collectors.counting()));
        assertThat(List.of(
                        count(taken, "qnn_conv2d"),
                        count(taken, "qnn_fully_connected"),
                        count(taken, "qnn_avg_pool2d") + count(taken, "qnn_max_pool2d"),
                        count(taken, "qnn_add"),
                        count(taken, "qnn_softmax")))
                .containsExactly((long) convolutions, (long) dense, (long) pools, (long) sums, (long) softmax);
    }

    /** Whoever takes whatever comes gets no reshape at the beginning or the end of a function: it shares its input's memory. */
    @Test
    void reshapesStayOutsideOfFunctions() {
        PatternStep any = new PatternStep("any", op -> true, false);
        PatternTable greedy = new PatternTable(
                "greedy", List.of(new CompositePattern("greedy.pair", List.of(any, any.orNone()), List.of())));
        PartitionGraph pass = new PartitionGraph(List.of(greedy));
        Function fused = Pipeline.of(PassOptions.DEFAULT, List.of(pass)).run(imported(OwnModel.KEYWORDS.model()));
        Map<Integer, Binding> bindings = fused.bindingsById();
        assertThat(fused.groups())
                .filteredOn(group -> group.composite().isPresent())
                .hasSizeGreaterThan(8)
                .allSatisfy(group -> assertThat(List.of(
                                group.bindings().get(0),
                                group.bindings().get(group.bindings().size() - 1)))
                        .noneMatch(id -> bindings.get(id).op() instanceof Reshape));
        assertThat(pass.stayed(fused).values())
                .containsOnly("greedy.pair: a function neither begins nor ends with a reshape, which moves no data");
    }

    private static long count(Map<String, Long> taken, String composite) {
        return taken.getOrDefault("cmsis-nn." + composite, 0L);
    }

    private static Set<String> reasons(String model) {
        Function fused = fused(GoldenModels.model(model), "cmsis-nn, c");
        Map<Integer, String> stayed = externals(GoldenModels.model(model), "cmsis-nn, c")
                .pass()
                .orElseThrow()
                .stayed(fused);
        return stayed.values().stream().collect(Collectors.toSet());
    }

    private static Function fused(Path model, String target) {
        return Pipeline.of(PassOptions.DEFAULT, externals(model, target).passes())
                .run(imported(model));
    }

    private static Function imported(Path model) {
        return Frontends.read(model, "default", InputShapes.NONE, ReadOptions.DEFAULT);
    }

    private static Externals externals(Path model, String target) {
        return RequestDraft.of(model, target).build().target().externals();
    }
}
