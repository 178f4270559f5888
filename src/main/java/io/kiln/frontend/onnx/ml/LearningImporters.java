// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.ml;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.learning;

import io.kiln.base.DType;
import io.kiln.base.KilnException;
import io.kiln.frontend.Formulas;
import io.kiln.frontend.onnx.ml.ClassLabels.PostTransform;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.model.OnnxTensor;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.reduce.ArgReduce;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Operators for machine learning other than neural networks: the table of all; what prepares numeric features (scales, norms, thresholds, missing
 * values, selections); categories, which are mapped to others or to vectors with a 1 at their place; and linear models.
 */
public final class LearningImporters {
    /** Most categories: each is compared with every element. */
    private static final int MOST = 1 << 12;

    private static final String UNUSED = "_Unused";
    private static final String TEXTS = "An image has no texts: encode them before the model, in the application";

    private static final List<OnnxRegistration> OWN = List.of(
            learning("LinearRegressor", LearningImporters::regressor),
            learning("LinearClassifier", LearningImporters::classifier),
            learning("OneHotEncoder", LearningImporters::oneHot),
            learning("LabelEncoder", LearningImporters::encoder),
            learning("CategoryMapper", LearningImporters::mapper),
            learning("Scaler", LearningImporters::scaler),
            learning("Normalizer", LearningImporters::normalizer),
            learning("Binarizer", LearningImporters::binarizer),
            learning("Imputer", LearningImporters::imputer),
            learning("ArrayFeatureExtractor", LearningImporters::extractor),
            learning("FeatureVectorizer", LearningImporters::vectorizer),
            learning("ZipMap", ClassLabels::zipMap));

    public static final List<OnnxRegistration> ALL = Stream.of(OWN, TreeImporters.ALL, SupportVectors.ALL)
            .flatMap(List::stream)
            .toList();

    private LearningImporters() {}

    private static Arg reals(NodeContext node) {
        return node.cast(node.arg(0), DType.FLOAT32);
    }

    /** Numbers for the features, or one for all. */
    private static Arg perFeature(NodeContext node, String name, List<Float> values) {
        Shape shape = node.shape(0);
        int features = shape.rank() == 0 ? 1 : shape.dim(-1);
        node.require(
                values.size() == 1 || values.size() == features,
                "`" + name + "` has " + values.size() + " numbers for " + features + " features",
                "one, or one for each");
        return node.reals(values, Shape.of(values.size()));
    }

    private static void scaler(NodeContext node) {
        Arg offset = perFeature(node, "offset", node.reals("offset").orElse(List.of(0f)));
        Arg scale = perFeature(node, "scale", node.reals("scale").orElse(List.of(1f)));
        node.finish(0, node.multiply(node.subtract(reals(node), offset), scale), ElementType.FLOAT);
    }

    /** Divides rows by a norm; a row whose norm is 0 stays. The norm MAX is the largest number, with its sign. */
    private static void normalizer(NodeContext node) {
        Arg data = reals(node);
        List<Integer> axis = List.of(node.shape(data).rank() - 1);
        String kind = node.text("norm", "MAX");
        Arg norm = switch (kind) {
            case "MAX" -> node.reduce(Reduce.Kind.MAX, data, axis);
            case "L1" -> node.reduce(Reduce.Kind.SUM, node.abs(data), axis);
            case "L2" -> node.sqrt(node.reduce(Reduce.Kind.SUM, node.multiply(data, data), axis));
            default -> throw node.failure("its norm is `" + kind + "`", "MAX, L1 or L2");
        };
        Arg isZero = node.equal(norm, node.real(0));
        Arg divisor = node.where(isZero, node.real(1), norm);
        node.finish(0, node.divide(data, divisor), ElementType.FLOAT);
    }

    private static void binarizer(NodeContext node) {
        Arg limit = node.real(node.real("threshold", 0));
        Arg isAbove = node.greater(reals(node), limit);
        node.finish(0, node.cast(isAbove, DType.FLOAT32), ElementType.FLOAT);
    }

    private static void imputer(NodeContext node) {
        Arg data = node.arg(0);
        if (node.dtype(data) == DType.FLOAT32) {
            float replaced = node.real("replaced_value_float", 0);
            Arg imputed = perFeature(
                    node,
                    "imputed_value_floats",
                    node.reals("imputed_value_floats").orElseThrow(() -> node.missing("imputed_value_floats")));
            Arg isReplaced = Float.isNaN(replaced)
                    ? node.binary(Binary.Kind.NOT_EQUAL, data, data)
                    : node.equal(data, node.real(replaced));
            node.finish(node.where(isReplaced, imputed, data));
            return;
        }
        List<Long> imputed = node.requiredWholes("imputed_value_int64s");
        int features = node.shape(0).dim(-1);
        node.require(
                imputed.size() == 1 || imputed.size() == features,
                "`imputed_value_int64s` has " + imputed.size() + " numbers for " + features + " features",
                "one, or one for each");
        Arg wide = node.cast(data, DType.INT64);
        Arg isReplaced = node.equal(wide, node.longs(List.of(node.whole("replaced_value_int64", 0)), Shape.of(1)));
        Arg result = node.where(isReplaced, node.longs(imputed, Shape.of(imputed.size())), wide);
        node.finish(node.cast(result, node.dtype(data)));
    }

    private static void extractor(NodeContext node) {
        Shape shape = node.shape(0);
        List<Long> indices = node.integers(1, "indices");
        int size = shape.dim(-1);
        indices.forEach(index -> node.require(
                index >= 0 && index < size, "an index is " + index + " of " + size, "an index of the data"));
        Arg places = node.ints(indices.stream().map(Long::intValue).toList(), Shape.of(indices.size()));
        Arg taken = node.take(node.arg(0), places, shape.rank() - 1);
        node.finish(shape.rank() == 1 ? node.reshape(taken, List.of(1, indices.size())) : taken);
    }

    /** The inputs side by side, each cut or filled up with zeros to its stated number of columns. */
    private static void vectorizer(NodeContext node) {
        List<Long> widths = node.wholes("inputdimensions").orElse(List.of());
        node.require(
                widths.isEmpty() || widths.size() == node.inputs(),
                "it has " + widths.size() + " inputdimensions for " + node.inputs() + " inputs",
                "one for each");
        List<Arg> parts = new ArrayList<>();
        for (int i = 0; i < node.inputs(); i++) {
            Shape shape = node.shape(i);
            node.require(shape.rank() <= 2 && shape.rank() > 0, "an input is " + shape.text(), "rows of numbers");
            Arg rows = node.reshape(
                    node.cast(node.arg(i), DType.FLOAT32), shape.rank() == 2 ? shape : Shape.of(1, shape.dim(0)));
            int columns = node.shape(rows).dim(1);
            long width = widths.isEmpty() ? columns : widths.get(i);
            node.require(width >= 1, "an input has " + width + " columns", "1 or more");
            parts.add(node.slice(rows, 1, 0, (int) Math.min(columns, width)));
            if (width > columns) {
                int missing = node.tableOf(node.shape(rows).dim(0), width - columns);
                parts.add(
                        node.reals(new float[missing], Shape.of(node.shape(rows).dim(0), (int) width - columns)));
            }
        }
        node.finish(0, node.concatenate(parts, 1), ElementType.FLOAT);
    }

    private static void oneHot(NodeContext node) {
        if (node.has("cats_strings")) {
            throw node.failure("its categories are texts", "cats_int64s", TEXTS);
        }
        List<Long> categories = node.requiredWholes("cats_int64s");
        bounded(node, categories.size());
        Constant table = node.longs(categories, Shape.of(categories.size()));
        Arg isSame = matches(node, node.cast(node.arg(0), DType.INT64), table);
        node.finish(0, node.cast(isSame, DType.FLOAT32), ElementType.FLOAT);
    }

    private static void bounded(NodeContext node, int categories) {
        node.require(categories >= 1 && categories <= MOST, "it has " + categories + " categories", "1 to " + MOST);
    }

    /** For each element whether it equals each key, in a new last dimension. */
    private static Arg matches(Formulas e, Arg data, Arg keys) {
        Shape shape = e.shape(data);
        e.tableOf(shape.elements(), e.shape(keys).elements());
        return e.equal(e.reshape(data, shape.inserted(shape.rank())), keys);
    }

    /** Of keys that are listed twice the first counts; of a CategoryMapper's categories, as in ONNX Runtime, the last. */
    private static void encoder(NodeContext node) {
        Column keys = Column.of(node, "keys").orElseThrow(() -> textual(node));
        List<String> texts = node.texts("values_strings").orElse(List.of());
        if (!texts.isEmpty()) {
            named(node, keys, texts, node.text("default_string", UNUSED));
            return;
        }
        Column values = Column.of(node, "values").orElseThrow(() -> textual(node));
        Arg otherwise = values.isReal()
                ? node.real(defaultReal(node))
                : node.longs(List.of(defaultWhole(node)), Shape.scalar());
        Arg found = found(node, keys, values, otherwise);
        node.finish(0, found, values.isReal() ? ElementType.FLOAT : ElementType.INT64);
    }

    private static void mapper(NodeContext node) {
        List<Long> keys = new ArrayList<>(node.requiredWholes("cats_int64s"));
        List<String> texts = new ArrayList<>(node.texts("cats_strings").orElse(List.of()));
        Collections.reverse(keys);
        Collections.reverse(texts);
        named(node, new Column(keys, List.of()), texts, node.text("default_string", UNUSED));
    }

    /** Sets the output to texts: an image has their indices, and a table of them. */
    private static void named(NodeContext node, Column keys, List<String> texts, String otherwise) {
        bounded(node, texts.size());
        LinkedHashSet<String> named = new LinkedHashSet<>(texts);
        named.add(otherwise);
        List<String> all = List.copyOf(named);
        List<Long> places = texts.stream().map(text -> (long) all.indexOf(text)).toList();
        Arg unknown = node.longs(List.of((long) all.indexOf(otherwise)), Shape.scalar());
        Arg found = found(node, keys, new Column(places, List.of()), unknown);
        node.finish(0, new OnnxValue(found, ElementType.INT64, Optional.empty(), all));
    }

    /** For each element the value of its key, or another. */
    private static Arg found(NodeContext node, Column keys, Column values, Arg otherwise) {
        Arg data = node.arg(0);
        boolean isReal = node.dtype(data) == DType.FLOAT32;
        bounded(node, keys.size());
        node.require(
                keys.size() == values.size(),
                "it has " + keys.size() + " keys and " + values.size() + " values",
                "one value for each key");
        node.require(
                keys.isReal() == isReal,
                "its keys do not have the type of " + node.dtype(data).text(),
                "the data's type");
        List<Integer> first = keys.firsts();
        Arg sought = isReal ? data : node.cast(data, DType.INT64);
        Arg isSame = matches(node, sought, keys.at(node, first));
        int axis = node.shape(isSame).rank() - 1;
        Arg marks = node.cast(isSame, DType.INT32);
        Arg index = node.emit(new ArgReduce(true, axis), marks);
        Arg isFound = node.greater(
                node.reshape(node.reduce(Reduce.Kind.MAX, marks, List.of(axis)), node.shape(data)),
                node.number(0, DType.INT32));
        return node.where(isFound, node.take(values.at(node, first), index, 0), otherwise);
    }

    private static KilnException textual(NodeContext node) {
        return node.failure("its keys are texts, or its values a tensor of texts", "integers or floats", TEXTS);
    }

    private static float defaultReal(NodeContext node) {
        return node.tensor("default_tensor")
                .map(tensor -> tensor.constant().real(0))
                .orElseGet(() -> node.real("default_float", -0f));
    }

    private static long defaultWhole(NodeContext node) {
        return node.tensor("default_tensor")
                .map(tensor -> tensor.constant().integer(0))
                .orElseGet(() -> node.whole("default_int64", -1));
    }

    /** The keys or the values of a map; one of the lists is empty. */
    private record Column(List<Long> wholes, List<Float> reals) {
        /** Those of a node in any version; empty if they are texts. */
        static Optional<Column> of(NodeContext node, String name) {
            Optional<OnnxTensor> tensor = node.tensor(name + "_tensor");
            if (tensor.isPresent()) {
                Constant all = tensor.orElseThrow().constant();
                IntStream places = IntStream.range(0, all.elements());
                return Optional.of(
                        all.type().dtype() == DType.FLOAT32
                                ? new Column(
                                        List.of(), places.mapToObj(all::real).toList())
                                : new Column(places.mapToObj(all::integer).toList(), List.of()));
            }
            List<Long> wholes = node.wholes(name + "_int64s").orElse(List.of());
            List<Float> reals = node.reals(name + "_floats").orElse(List.of());
            return wholes.isEmpty() && reals.isEmpty() ? Optional.empty() : Optional.of(new Column(wholes, reals));
        }

        boolean isReal() {
            return !reals.isEmpty();
        }

        int size() {
            return isReal() ? reals.size() : wholes.size();
        }

        /** The places of entries that are not listed before. */
        List<Integer> firsts() {
            Set<Object> known = new HashSet<>();
            return IntStream.range(0, size())
                    .filter(i -> known.add(isReal() ? (Object) reals.get(i) : wholes.get(i)))
                    .boxed()
                    .toList();
        }

        Constant at(Formulas e, List<Integer> places) {
            Shape shape = Shape.of(places.size());
            return isReal()
                    ? e.reals(places.stream().map(reals::get).toList(), shape)
                    : e.longs(places.stream().map(wholes::get).toList(), shape);
        }
    }

    private static void regressor(NodeContext node) {
        long targets = node.whole("targets", 1);
        Arg scores = scores(node, targets);
        PostTransform transform = PostTransform.of(node);
        boolean isTransformed = targets > 1 || transform == PostTransform.PROBIT;
        node.finish(0, isTransformed ? transform.of(node, scores) : scores, ElementType.FLOAT);
    }

    /** {@code data * coefficients^T + intercepts}, (rows, count). */
    private static Arg scores(NodeContext node, long count) {
        Arg data = TreeImporters.rows(node);
        int features = node.shape(data).dim(1);
        List<Float> coefficients = node.reals("coefficients").orElseThrow(() -> node.missing("coefficients"));
        node.require(
                count >= 1 && count <= coefficients.size() && coefficients.size() == count * features,
                "it has " + coefficients.size() + " coefficients for " + count + " scores of " + features + " features",
                "one for each score and feature");
        List<Float> intercepts = node.reals("intercepts").orElse(List.of());
        node.require(
                intercepts.isEmpty() || intercepts.size() == count,
                "it has " + intercepts.size() + " intercepts for " + count + " scores",
                "none, or one for each");
        Arg product =
                node.emit(new Dense((int) count), data, node.reals(coefficients, Shape.of((int) count, features)));
        return intercepts.isEmpty()
                ? product
                : node.emit(new BiasAdd(-1), product, node.reals(intercepts, Shape.of((int) count)));
    }

    private static void classifier(NodeContext node) {
        ClassLabels labels = ClassLabels.of(node, "classlabels_ints", "classlabels_strings");
        PostTransform transform = PostTransform.of(node);
        int features = node.shape(TreeImporters.rows(node)).dim(1);
        int coefficients = node.reals("coefficients").orElse(List.of()).size();
        int count = features == 0 ? 0 : coefficients / features;
        Arg scores = scores(node, count);
        if (count == 1 && labels.size() == 2) {
            Arg isSecond = node.greater(scores, node.real(0));
            Arg classes = node.reshape(
                    node.cast(isSecond, DType.INT32), List.of(node.shape(scores).dim(0)));
            node.require(
                    transform == PostTransform.NONE || transform == PostTransform.LOGISTIC,
                    "its post_transform of one score for two classes is " + transform,
                    "NONE or LOGISTIC");
            Arg second = transform.of(node, scores);
            Arg first = node.subtract(node.real(1), second);
            labels.finish(node, classes, node.concatenate(List.of(first, second), 1));
            return;
        }
        node.require(
                count == labels.size(),
                "it has coefficients for " + count + " scores and " + labels.size() + " class labels",
                "a score for each class");
        labels.finish(node, node.emit(new ArgReduce(true, 1), scores), transform.of(node, scores));
    }
}
