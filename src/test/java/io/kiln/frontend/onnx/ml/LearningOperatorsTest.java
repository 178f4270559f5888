// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.ml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.HostProgram;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.ModelBuilder;
import io.kiln.frontend.onnx.OnnxFrontend;
import io.kiln.frontend.onnx.OnnxRuntime;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.ir.Function;
import io.kiln.reference.Interpreter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Linear models, support vectors and what prepares data answer as in ONNX Runtime: in the interpreter, and as C on the host. */
class LearningOperatorsTest {
    private static final double TOLERANCE = 2e-5;

    private final List<Bytes> files = new ArrayList<>();
    private final Random random = new Random(11);

    @TempDir
    private Path folder;

    private List<Float> floats(int count) {
        return random.doubles(count, -1, 1).mapToObj(x -> (float) x).toList();
    }

    private void add(String operator, ElementType in, List<Integer> dims, ElementType out, Map<String, Object> all) {
        ModelBuilder model = new ModelBuilder(17).learning(3);
        model.input("x", in, dims);
        boolean isClassifier = operator.endsWith("Classifier");
        List<String> outputs = isClassifier ? List.of("label", "y") : List.of("y");
        model.node("ai.onnx.ml", operator, List.of("x"), outputs, all);
        if (isClassifier) {
            model.output("label", ElementType.INT64);
        }
        model.output("y", out);
        files.add(model.build());
    }

    private void reals(String operator, List<Integer> dims, Map<String, Object> all) {
        add(operator, ElementType.FLOAT, dims, ElementType.FLOAT, all);
    }

    private void linear() {
        for (String transform : List.of("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT")) {
            for (int scores = 1; scores < 4; scores++) {
                Map<String, Object> all = new LinkedHashMap<>();
                all.put("coefficients", floats(scores * 5));
                all.put("post_transform", transform);
                if (scores != 2) {
                    all.put("intercepts", floats(scores));
                }
                Map<String, Object> regressor = new LinkedHashMap<>(all);
                regressor.put("targets", (long) scores);
                reals("LinearRegressor", List.of(2, 5), regressor);
                if (scores > 1 || transform.equals("NONE") || transform.equals("LOGISTIC")) {
                    all.put("intercepts", floats(scores));
                    all.put("classlabels_ints", scores < 3 ? List.of(4L, -7L) : List.of(0L, 1L, 2L));
                    reals("LinearClassifier", List.of(2, 5), all);
                }
            }
        }
    }

    private void supportVectors() {
        for (String kernel : List.of("LINEAR", "POLY", "RBF", "SIGMOID")) {
            for (long isOneClass = 0; isOneClass < 2; isOneClass++) {
                reals(
                        "SVMRegressor",
                        List.of(2, 3),
                        Map.of(
                                "kernel_type", kernel,
                                "kernel_params", List.of(0.5f, 0.25f, 3f),
                                "n_supports", 4L,
                                "support_vectors", floats(12),
                                "coefficients", floats(4),
                                "rho", floats(1),
                                "one_class", isOneClass));
            }
        }
    }

    /** Of two to four classes. Rows of equal votes occur, and coefficients of which none is negative. */
    private void supportVectorClasses() {
        for (List<Long> counts : List.of(List.of(2L, 3L), List.of(1L, 2L, 2L), List.of(2L, 1L, 2L, 1L))) {
            int classes = counts.size();
            int vectors = counts.stream().mapToInt(Long::intValue).sum();
            for (String kernel : List.of("LINEAR", "POLY", "RBF", "SIGMOID")) {
                List<Float> coefficients = floats((classes - 1) * vectors);
                Map<String, Object> all = Map.of(
                        "kernel_type", kernel,
                        "kernel_params", List.of(0.5f, 0.25f, 3f),
                        "support_vectors", floats(3 * vectors),
                        "coefficients",
                                kernel.equals("RBF")
                                        ? coefficients.stream().map(Math::abs).toList()
                                        : coefficients,
                        "rho", floats(classes * (classes - 1) / 2),
                        "vectors_per_class", counts,
                        "classlabels_ints", List.of(7L, -3L, 5L, 1L).subList(0, classes));
                reals("SVMClassifier", List.of(6, 3), all);
                if (!kernel.equals("RBF")) {
                    continue;
                }
                Map<String, Object> coupled = new LinkedHashMap<>(all);
                coupled.put(
                        "prob_a",
                        floats(classes * (classes - 1) / 2).stream()
                                .map(a -> 3 * a)
                                .toList());
                coupled.put("prob_b", floats(classes * (classes - 1) / 2));
                reals("SVMClassifier", List.of(6, 3), coupled);
            }
        }
    }

    private static void refused(Map<String, Object> changed, String message) {
        Map<String, Object> all = new LinkedHashMap<>(Map.of(
                "support_vectors", List.of(1f, 2f, 3f),
                "coefficients", List.of(1f, 2f, 3f),
                "rho", List.of(1f),
                "vectors_per_class", List.of(1L, 2L),
                "classlabels_ints", List.of(0L, 1L)));
        all.putAll(changed);
        ModelBuilder model = new ModelBuilder(17).learning(3);
        model.input("x", ElementType.FLOAT, List.of(1, 1));
        model.node("ai.onnx.ml", "SVMClassifier", List.of("x"), List.of("label", "y"), all);
        model.output("label", ElementType.INT64);
        Bytes file = model.build();
        if (message.isEmpty()) {
            assertThat(OnnxFrontend.read(file, "m.onnx", "m", InputShapes.NONE).results())
                    .hasSize(1);
            return;
        }
        assertThatThrownBy(() -> OnnxFrontend.read(file, "m.onnx", "m", InputShapes.NONE))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining(message);
    }

    @Test
    void supportVectorsThatDoNotFitAreRefused() {
        refused(Map.of(), "");
        refused(Map.of("vectors_per_class", List.of(1L, 3L)), "`support_vectors` has 3 numbers");
        refused(Map.of("vectors_per_class", List.of(1L, 1L << 31)), "vectors of 2 classes");
        refused(Map.of("vectors_per_class", List.of(-1L, 4L)), "vectors of 2 classes");
        refused(Map.of("vectors_per_class", List.of(3L)), "vectors of 1 classes and 2 class labels");
        refused(Map.of("vectors_per_class", List.of(0L, 0L)), "`support_vectors` has 3 numbers");
        refused(Map.of("coefficients", List.of(1f)), "`coefficients` has 1 numbers");
        refused(Map.of("rho", List.of(1f, 2f)), "rho has 2 numbers");
        refused(Map.of("post_transform", "LOGISTIC"), "its post_transform is LOGISTIC");
        refused(Map.of("kernel_type", "COSINE"), "its kernel_type is `COSINE`");
        refused(
                Map.of(
                        "vectors_per_class", Collections.nCopies(17, 1L),
                        "classlabels_ints", LongStream.range(0, 17).boxed().toList(),
                        "support_vectors", Collections.nCopies(17, 1f),
                        "coefficients", Collections.nCopies(17 * 16, 1f),
                        "rho", Collections.nCopies(17 * 8, 1f),
                        "prob_a", Collections.nCopies(17 * 8, 1f),
                        "prob_b", Collections.nCopies(17 * 8, 1f)),
                "it has probabilities of 17 classes");
        refused(Map.of("prob_a", List.of(1f)), "prob_a and prob_b have 1 and 0 numbers");
        refused(Map.of("prob_a", List.of(1f), "prob_b", List.of(1f, 2f)), "prob_a and prob_b have 1 and 2 numbers");
    }

    private void features() {
        reals("Scaler", List.of(2, 3), Map.of("offset", List.of(0.5f, -1f, 2f), "scale", List.of(2f, 0.1f, -3f)));
        reals("Scaler", List.of(2, 3), Map.of("offset", List.of(0.5f), "scale", List.of(0.3f)));
        add(
                "Scaler",
                ElementType.INT64,
                List.of(2, 3),
                ElementType.FLOAT,
                Map.of("offset", List.of(1f), "scale", List.of(0.5f)));
        for (String norm : List.of("MAX", "L1", "L2")) {
            reals("Normalizer", List.of(3, 4), Map.of("norm", norm));
        }
        reals("Binarizer", List.of(2, 3), Map.of("threshold", 0.25f));
        reals(
                "Imputer",
                List.of(2, 3),
                Map.of("replaced_value_float", 0.5f, "imputed_value_floats", List.of(7f, 8f, 9f)));
        reals("Imputer", List.of(2, 3), Map.of("replaced_value_float", Float.NaN, "imputed_value_floats", List.of(7f)));
        add(
                "Imputer",
                ElementType.INT64,
                List.of(2, 3),
                ElementType.INT64,
                Map.of("replaced_value_int64", 1L, "imputed_value_int64s", List.of(70L, 80L, 90L)));
        ModelBuilder model = new ModelBuilder(17).learning(1);
        model.input("x", ElementType.FLOAT, List.of(2, 4));
        model.node("ai.onnx.ml", "ArrayFeatureExtractor", List.of("x", model.longs(false, 3, 0, 3)), "y", Map.of());
        model.output("y", ElementType.FLOAT);
        files.add(model.build());
        ModelBuilder joined = new ModelBuilder(17).learning(1);
        joined.input("x", ElementType.FLOAT, List.of(2, 4));
        joined.input("z", ElementType.FLOAT, List.of(2, 2));
        joined.node(
                "ai.onnx.ml", "FeatureVectorizer", List.of("x", "z"), "y", Map.of("inputdimensions", List.of(4L, 2L)));
        joined.output("y", ElementType.FLOAT);
        files.add(joined.build());
    }

    private void categories() {
        add(
                "OneHotEncoder",
                ElementType.INT64,
                List.of(2, 3),
                ElementType.FLOAT,
                Map.of("cats_int64s", List.of(2L, 0L, -1L), "zeros", 1L));
        add(
                "LabelEncoder",
                ElementType.INT64,
                List.of(2, 3),
                ElementType.FLOAT,
                Map.of(
                        "keys_int64s",
                        List.of(2L, 0L, 2L),
                        "values_floats",
                        List.of(0.5f, 1.5f, 2.5f),
                        "default_float",
                        -3f));
        add(
                "LabelEncoder",
                ElementType.INT64,
                List.of(6),
                ElementType.INT64,
                Map.of("keys_int64s", List.of(-1L, 1L), "values_int64s", List.of(1L << 40, 7L)));
        add(
                "LabelEncoder",
                ElementType.FLOAT,
                List.of(2, 3),
                ElementType.INT64,
                Map.of("keys_floats", List.of(0.5f, 0f), "values_int64s", List.of(5L, 6L), "default_int64", 9L));
    }

    private Bytes input(Function function, int index) {
        var type = function.params().get(index).type();
        int count = (int) type.shape().elements();
        ByteBuffer data = ByteBuffer.allocate((int) type.bytes()).order(ByteOrder.LITTLE_ENDIAN);
        float[] grid = {0.5f, 0, 0.25f, 1, -1};
        for (int i = 0; i < count; i++) {
            if (type.dtype().isFloat()) {
                data.putFloat(random.nextBoolean() ? (float) random.nextGaussian() : grid[random.nextInt(grid.length)]);
            } else {
                data.putLong(random.nextInt(5) - 2);
            }
        }
        return Bytes.wrap(data.array());
    }

    @Test
    void operatorsAnswerAsInOnnxRuntime() {
        linear();
        supportVectors();
        supportVectorClasses();
        features();
        categories();
        List<ModelMetadata> models = new ArrayList<>();
        List<List<Artifact>> artifacts = new ArrayList<>();
        List<Bytes> inputs = new ArrayList<>();
        List<Answer> expected = new ArrayList<>();
        List<String> wrong = new ArrayList<>();
        for (int i = 0; i < files.size(); i++) {
            Function function = OnnxFrontend.read(files.get(i), "m.onnx", "m" + i, InputShapes.NONE);
            List<Bytes> data = new ArrayList<>();
            for (int k = 0; k < function.params().size(); k++) {
                data.add(input(function, k));
            }
            List<Bytes> answer = Interpreter.run(function, data);
            List<Bytes> runtime = OnnxRuntime.run(files.get(i), function.params(), data);
            for (int k = 0; k < runtime.size(); k++) {
                String what = function.bindings().get(0).origin() + ", output " + k;
                Answer own = new Answer(what, answer.get(k), isFloat(function, k));
                wrong.addAll(own.differences(runtime.get(k)));
                expected.add(own);
            }
            inputs.addAll(data);
            CompiledModel compiled = ModelCompiler.compile(
                    RequestDraft.of(Path.of("m.onnx"), "c").name("m" + i).build(), function);
            models.add(compiled.library().metadata());
            artifacts.add(compiled.library().artifacts().artifacts());
        }
        assertThat(wrong).isEmpty();
        Bytes c = HostProgram.build(folder, models, artifacts).run(inputs);
        int at = 0;
        for (Answer answer : expected) {
            wrong.addAll(answer.differences(c.part(at, answer.bytes().size())));
            at += answer.bytes().size();
        }
        assertThat(at).isEqualTo(c.size());
        assertThat(wrong).isEmpty();
    }

    @Test
    void whatCannotBeInAnImageIsRefused() {
        add(
                "OneHotEncoder",
                ElementType.INT64,
                List.of(2),
                ElementType.FLOAT,
                Map.of("cats_strings", List.of("a", "b")));
        add(
                "LabelEncoder",
                ElementType.INT64,
                List.of(2),
                ElementType.INT64,
                Map.of("keys_strings", List.of("a"), "values_int64s", List.of(1L)));
        add(
                "CategoryMapper",
                ElementType.INT64,
                List.of(2),
                ElementType.STRING,
                Map.of("cats_int64s", List.of(1L, 2L), "cats_strings", List.of("a")));
        reals("LinearRegressor", List.of(1, 3), Map.of("coefficients", List.of(1f, 2f)));
        reals("Scaler", List.of(1, 3), Map.of("scale", List.of(1f, 2f)));
        List<String> messages = List.of(
                "its categories are texts",
                "its keys are texts",
                "it has 2 keys and 1 values",
                "it has 2 coefficients for 1 scores of 3 features",
                "`scale` has 2 numbers for 3 features");
        for (int i = 0; i < messages.size(); i++) {
            Bytes file = files.get(i);
            assertThatThrownBy(() -> OnnxFrontend.read(file, "m.onnx", "m", InputShapes.NONE))
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining(messages.get(i));
        }
    }

    /** An image has the index of a text among all texts of the node, and the default's where nothing is found. */
    @Test
    void textsAreIndicesWithATable() {
        add(
                "CategoryMapper",
                ElementType.INT64,
                List.of(4),
                ElementType.STRING,
                Map.of("cats_int64s", List.of(5L, 7L, 5L), "cats_strings", List.of("cat", "dog", "cow")));
        add(
                "LabelEncoder",
                ElementType.INT64,
                List.of(4),
                ElementType.STRING,
                Map.of(
                        "keys_int64s", List.of(5L, 7L, 5L),
                        "values_strings", List.of("cat", "dog", "cow"),
                        "default_string", "dog"));
        List<List<String>> expected =
                List.of(List.of("dog", "cow", "_Unused", "_Unused"), List.of("dog", "cat", "dog", "dog"));
        Bytes data = Bytes.wrap(ByteBuffer.allocate(4 * Long.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(7)
                .putLong(5)
                .putLong(0)
                .putLong(-1)
                .array());
        for (int i = 0; i < files.size(); i++) {
            Function function = OnnxFrontend.read(files.get(i), "m.onnx", "m", InputShapes.NONE);
            List<String> texts = function.results().get(0).labels();
            ByteBuffer found = Interpreter.run(function, List.of(data)).get(0).buffer();
            assertThat(IntStream.range(0, 4)
                            .mapToObj(k -> texts.get(
                                    (int) found.order(ByteOrder.LITTLE_ENDIAN).getLong(Long.BYTES * k))))
                    .isEqualTo(expected.get(i));
        }
    }

    /** Before any of them is looked up. */
    @Test
    void manyTextsAreRefusedAtOnce() {
        add(
                "CategoryMapper",
                ElementType.INT64,
                List.of(4),
                ElementType.STRING,
                Map.of(
                        "cats_int64s", List.of(1L),
                        "cats_strings",
                                LongStream.range(0, 400_000)
                                        .mapToObj(Long::toString)
                                        .toList()));
        assertThatThrownBy(() -> assertTimeoutPreemptively(
                        Duration.ofSeconds(60), () -> OnnxFrontend.read(files.get(0), "m.onnx", "m", InputShapes.NONE)))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("it has 400000 categories");
    }

    private static boolean isFloat(Function function, int output) {
        int id = function.results().get(output).id();
        return function.types().get(id).dtype().isFloat();
    }

    /** An output of the interpreter. */
    private record Answer(String what, Bytes bytes, boolean isFloat) {
        /** Empty if others are equal, or floats that differ by little. */
        List<String> differences(Bytes others) {
            assertThat(others.size()).as(what).isEqualTo(bytes.size());
            for (int at = 0; at < bytes.size(); at += Float.BYTES) {
                float own = bytes.buffer().getFloat(at);
                float other = others.buffer().getFloat(at);
                boolean isClose = isFloat
                        && ((Float.isNaN(own) && Float.isNaN(other))
                                || Math.abs(own - other) <= TOLERANCE * (1 + Math.abs(other)));
                if (bytes.int32(at) != others.int32(at) && !isClose) {
                    return List.of(what + ": element " + at / Float.BYTES + " is " + own + ", not " + other);
                }
            }
            return List.of();
        }
    }
}
