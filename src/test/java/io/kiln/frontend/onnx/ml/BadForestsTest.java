// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.ml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.onnx.proto.OnnxMl.TensorProto;
import io.kiln.artifact.Artifact;
import io.kiln.artifact.ModelLibrary;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.ModelBuilder;
import io.kiln.frontend.onnx.OnnxFrontend;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.relay.RelayFrontend;
import io.kiln.ir.Function;
import io.kiln.ir.text.RelayPrinter;
import io.kiln.reference.Interpreter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Forests whose lists contradict each other are refused with one message; labels go where programs find them. */
class BadForestsTest {
    private static final String LEARNING = "ai.onnx.ml";

    /** One tree: a split on feature 0, and two leaves. */
    private static Map<String, Object> lists() {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("nodes_treeids", List.of(0L, 0L, 0L));
        all.put("nodes_nodeids", List.of(0L, 1L, 2L));
        all.put("nodes_featureids", List.of(0L, 0L, 0L));
        all.put("nodes_values", List.of(0.5f, 0f, 0f));
        all.put("nodes_modes", List.of("BRANCH_LEQ", "LEAF", "LEAF"));
        all.put("nodes_truenodeids", List.of(1L, 0L, 0L));
        all.put("nodes_falsenodeids", List.of(2L, 0L, 0L));
        all.put("target_treeids", List.of(0L, 0L));
        all.put("target_nodeids", List.of(1L, 2L));
        all.put("target_ids", List.of(0L, 0L));
        all.put("target_weights", List.of(1f, 2f));
        return all;
    }

    private static Bytes regressor(Map<String, Object> lists) {
        ModelBuilder model = new ModelBuilder(17).learning(3);
        model.input("x", ElementType.FLOAT, List.of(1, 2));
        model.node(LEARNING, "TreeEnsembleRegressor", List.of("x"), "y", lists);
        model.output("y", ElementType.FLOAT);
        return model.build();
    }

    private static void refused(Bytes file, String... parts) {
        assertThatThrownBy(() -> OnnxFrontend.read(file, "m.onnx", "m", InputShapes.NONE))
                .isInstanceOf(KilnException.class)
                .hasMessageContainingAll(parts)
                .message()
                .hasSizeLessThan(600);
    }

    @Test
    void aGoodOneAnswers() {
        Function function = OnnxFrontend.read(regressor(lists()), "m.onnx", "m", InputShapes.NONE);
        Bytes answer = Interpreter.run(function, List.of(RandomForests.floats(0.5f, 0)))
                .get(0);
        assertThat(answer).isEqualTo(RandomForests.floats(1));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "nodes_truenodeids | 0 0 0 | its splits form a loop",
                "nodes_falsenodeids | 7 0 0 | node 0 of tree 0 has a child 7 that is not listed",
                "nodes_nodeids | 0 1 1 | node 1 of tree 0 is listed twice",
                "nodes_nodeids | 0 1 | `nodes_nodeids` has 2 entries",
                "nodes_featureids | 2 0 0 | a split tests feature 2 of data with 2",
                "nodes_featureids | -1 0 0 | a feature is -1",
                "target_treeids | 0 9 | a vote names node 2 of tree 9",
                "target_ids | 0 1 | a leaf votes for target 1 of 1",
                "target_ids | 0 -1 | a target is -1",
                "target_nodeids | 1 1 | a leaf votes twice for one target",
                "target_nodeids | 1 0 | a leaf has no vote",
                "target_ids | 0 | its lists of votes have 2, 2, 1 and 2 entries",
            })
    void contradictoryLists(String list, String values, String message) {
        Map<String, Object> lists = lists();
        List<Long> longs = new ArrayList<>();
        for (String value : values.strip().split(" ", -1)) {
            longs.add(Long.valueOf(value));
        }
        lists.put(list.strip(), longs);
        refused(regressor(lists), "node #0 ai.onnx.ml.TreeEnsembleRegressor", message.strip());
    }

    @Test
    void otherModesAndNumbers() {
        Map<String, Object> lists = lists();
        lists.put("nodes_modes", List.of("BRANCH_XOR", "LEAF", "LEAF"));
        refused(regressor(lists), "a node has the mode `BRANCH_XOR`");
        lists = lists();
        lists.put("nodes_values", List.of(Float.NaN, 0f, 0f));
        refused(regressor(lists), "a threshold is NaN");
        lists = lists();
        lists.remove("nodes_values");
        lists.put(
                "nodes_values_as_tensor",
                TensorProto.newBuilder()
                        .setDataType(TensorProto.DataType.DOUBLE_VALUE)
                        .addDims(3)
                        .addAllDoubleData(List.of(0.5, 0.0, 0.0))
                        .build());
        refused(regressor(lists), "`nodes_values_as_tensor` holds double, its data is float");
        lists = lists();
        lists.put("target_weights", List.of(Float.POSITIVE_INFINITY, 0f));
        refused(regressor(lists), "a leaf's weight is Infinity");
        lists = lists();
        lists.remove("nodes_truenodeids");
        refused(regressor(lists), "its attribute `nodes_truenodeids` is missing");
    }

    @Test
    void millionsOfNodes() {
        int count = 2_100_000;
        Map<String, Object> lists = lists();
        lists.put("nodes_treeids", Collections.nCopies(count, 0L));
        refused(regressor(lists), "the file has more than", "a model for a microcontroller");
    }

    @Test
    void aTreeAsDeepAsItIsLargeIsATable() {
        int depth = 20_000;
        Map<String, Object> lists = new LinkedHashMap<>();
        List<Long> zeros = Collections.nCopies(2 * depth + 1, 0L);
        List<String> modes = new ArrayList<>(Collections.nCopies(depth, "BRANCH_LT"));
        modes.addAll(Collections.nCopies(depth + 1, "LEAF"));
        lists.put("nodes_treeids", zeros);
        lists.put("nodes_nodeids", LongStream.range(0, 2L * depth + 1).boxed().toList());
        lists.put("nodes_featureids", zeros);
        lists.put(
                "nodes_values",
                LongStream.range(0, 2L * depth + 1).mapToObj(i -> (float) i).toList());
        lists.put("nodes_modes", modes);
        lists.put(
                "nodes_truenodeids",
                LongStream.range(0, 2L * depth + 1).map(i -> depth + i).boxed().toList());
        lists.put(
                "nodes_falsenodeids",
                LongStream.range(0, 2L * depth + 1).map(i -> i + 1).boxed().toList());
        lists.put("target_treeids", Collections.nCopies(depth + 1, 0L));
        lists.put(
                "target_nodeids",
                LongStream.rangeClosed(depth, 2L * depth).boxed().toList());
        lists.put("target_ids", Collections.nCopies(depth + 1, 0L));
        lists.put(
                "target_weights",
                LongStream.rangeClosed(0, depth).mapToObj(i -> (float) i).toList());
        lists.put(
                "nodes_falsenodeids",
                LongStream.range(0, 2L * depth + 1)
                        .map(i -> i == depth - 1 ? 2L * depth : i + 1)
                        .boxed()
                        .toList());
        Function function = OnnxFrontend.read(regressor(lists), "m.onnx", "m", InputShapes.NONE);
        Bytes answer = Interpreter.run(function, List.of(RandomForests.floats(7_000, 0)))
                .get(0);
        assertThat(answer).isEqualTo(RandomForests.floats(7_001));
        ModelLibrary library = ModelCompiler.compile(
                        RequestDraft.of(Path.of("m.onnx"), "c").name("m").build(), function)
                .library();
        assertThat(library.metadata().operators().get(0).schedule()).isEqualTo("trees(tables)");
    }

    @Test
    void labelsAreInTheHeaderAndTheReport() {
        Map<String, Object> lists = lists();
        for (String list : List.of("treeids", "nodeids", "ids", "weights")) {
            lists.put("class_" + list, lists.remove("target_" + list));
        }
        lists.put("classlabels_strings", List.of("cat", "a \"dog\""));
        ModelBuilder model = new ModelBuilder(17).learning(3);
        model.input("x", ElementType.FLOAT, List.of(1, 2));
        model.node(LEARNING, "TreeEnsembleClassifier", List.of("x"), List.of("label", "scores"), lists);
        model.node(
                LEARNING,
                "ZipMap",
                List.of("scores"),
                "map",
                Map.of("classlabels_strings", List.of("cat", "a \"dog\"")));
        model.output("label", ElementType.STRING, List.of(1));
        model.output("map", ElementType.FLOAT);
        Function function = OnnxFrontend.read(model.build(), "m.onnx", "m", InputShapes.NONE);
        Function read =
                RelayFrontend.read(Bytes.ofText(RelayPrinter.astext(function)), "m.relay", Optional.empty(), "", "m");
        assertThat(read.results()).isEqualTo(function.results());
        ModelLibrary library = ModelCompiler.compile(
                        RequestDraft.of(Path.of("m.onnx"), "c").name("m").build(), read)
                .library();
        assertThat(library.metadata().outputs())
                .allSatisfy(output -> assertThat(output.labels()).containsExactly("cat", "a \"dog\""));
        String header = library.artifacts().artifacts().stream()
                .filter(artifact -> artifact.fileName().equals("tvmgen_m_tensors.h"))
                .map(Artifact::content)
                .map(Bytes::text)
                .findFirst()
                .orElseThrow();
        assertThat(header)
                .contains(
                        "#define TVMGEN_M_OUTPUT_0_LABELS 2",
                        "const char *const tvmgen_m_output_1_labels[2] = {",
                        "\"a \\042dog\\042\"");
    }
}
