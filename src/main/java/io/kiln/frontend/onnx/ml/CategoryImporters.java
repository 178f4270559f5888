// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.ml;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.learning;

import io.kiln.base.DType;
import io.kiln.base.KilnException;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.model.OnnxTensor;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.element.Binary;
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

/** Categories: numbers that are names of something, mapped to others, or to vectors with a 1 at their place. */
final class CategoryImporters {
    static final List<OnnxRegistration> ALL = List.of(
            learning("OneHotEncoder", CategoryImporters::oneHot),
            learning("LabelEncoder", CategoryImporters::encoder),
            learning("CategoryMapper", CategoryImporters::mapper));

    /** Most categories: each is compared with every element. */
    private static final int MOST = 1 << 12;

    private static final String UNUSED = "_Unused";

    private static final String TEXTS = "An image has no texts: encode them before the model, in the application";

    private CategoryImporters() {}

    private static void oneHot(NodeContext node) {
        Expressions e = new Expressions(node);
        if (node.attributes().has("cats_strings")) {
            throw node.failure("its categories are texts", "cats_int64s", TEXTS);
        }
        List<Long> categories = node.attributes().requiredWholes("cats_int64s");
        bounded(node, categories.size());
        Constant table = e.longs(categories, Shape.of(categories.size()));
        Arg isSame = matches(e, e.cast(node.arg(0), DType.INT64), table);
        node.finish(0, e.cast(isSame, DType.FLOAT32), ElementType.FLOAT);
    }

    private static void bounded(NodeContext node, int categories) {
        node.require(categories >= 1 && categories <= MOST, "it has " + categories + " categories", "1 to " + MOST);
    }

    /** For each element whether it equals each key, in a new last dimension. */
    private static Arg matches(Expressions e, Arg data, Arg keys) {
        List<Integer> dims = new ArrayList<>(e.shape(data).dims());
        dims.add(1);
        e.tableOf(e.shape(data).elements(), e.shape(keys).elements());
        return e.binary(Binary.Kind.EQUAL, e.reshape(data, dims), keys);
    }

    /** Of keys that are listed twice the first counts; of a CategoryMapper's categories, as in ONNX Runtime, the last. */
    private static void encoder(NodeContext node) {
        Column keys = Column.of(node, "keys").orElseThrow(() -> textual(node));
        List<String> texts = node.attributes().texts("values_strings").orElse(List.of());
        if (!texts.isEmpty()) {
            named(node, keys, texts, node.attributes().text("default_string", UNUSED));
            return;
        }
        Column values = Column.of(node, "values").orElseThrow(() -> textual(node));
        Expressions e = new Expressions(node);
        Arg otherwise = values.isReal()
                ? e.number(defaultReal(node), DType.FLOAT32)
                : e.longs(List.of(defaultWhole(node)), Shape.scalar());
        Arg found = found(node, keys, values, otherwise);
        node.finish(0, found, values.isReal() ? ElementType.FLOAT : ElementType.INT64);
    }

    private static void mapper(NodeContext node) {
        List<Long> keys = new ArrayList<>(node.attributes().requiredWholes("cats_int64s"));
        List<String> texts =
                new ArrayList<>(node.attributes().texts("cats_strings").orElse(List.of()));
        Collections.reverse(keys);
        Collections.reverse(texts);
        named(node, new Column(keys, List.of()), texts, node.attributes().text("default_string", UNUSED));
    }

    /** Sets the output to texts: an image has their indices, and a table of them. */
    private static void named(NodeContext node, Column keys, List<String> texts, String otherwise) {
        bounded(node, texts.size());
        LinkedHashSet<String> named = new LinkedHashSet<>(texts);
        named.add(otherwise);
        List<String> all = List.copyOf(named);
        List<Long> places = texts.stream().map(text -> (long) all.indexOf(text)).toList();
        Expressions e = new Expressions(node);
        Arg unknown = e.longs(List.of((long) all.indexOf(otherwise)), Shape.scalar());
        Arg found = found(node, keys, new Column(places, List.of()), unknown);
        node.finish(0, new OnnxValue(found, ElementType.INT64, Optional.empty(), all));
    }

    /** For each element the value of its key, or another. */
    private static Arg found(NodeContext node, Column keys, Column values, Arg otherwise) {
        Expressions e = new Expressions(node);
        Arg data = node.arg(0);
        boolean isReal = e.dtype(data) == DType.FLOAT32;
        bounded(node, keys.size());
        node.require(
                keys.size() == values.size(),
                "it has " + keys.size() + " keys and " + values.size() + " values",
                "one value for each key");
        node.require(
                keys.isReal() == isReal,
                "its keys do not have the type of " + e.dtype(data).text(),
                "the data's type");
        List<Integer> first = keys.firsts();
        Arg sought = isReal ? data : e.cast(data, DType.INT64);
        Arg isSame = matches(e, sought, keys.at(e, first));
        int axis = e.shape(isSame).rank() - 1;
        Arg marks = e.cast(isSame, DType.INT32);
        Arg index = node.emit(new ArgReduce(true, axis), marks);
        Arg isFound = e.binary(
                Binary.Kind.GREATER,
                e.reshape(e.reduce(Reduce.Kind.MAX, marks, List.of(axis)), e.shape(data)),
                e.number(0, DType.INT32));
        return e.where(isFound, e.take(values.at(e, first), index, 0), otherwise);
    }

    private static KilnException textual(NodeContext node) {
        return node.failure("its keys are texts, or its values a tensor of texts", "integers or floats", TEXTS);
    }

    private static float defaultReal(NodeContext node) {
        return node.attributes()
                .tensor("default_tensor")
                .map(tensor -> tensor.constant().real(0))
                .orElseGet(() -> node.attributes().real("default_float", -0f));
    }

    private static long defaultWhole(NodeContext node) {
        return node.attributes()
                .tensor("default_tensor")
                .map(tensor -> tensor.constant().integer(0))
                .orElseGet(() -> node.attributes().whole("default_int64", -1));
    }

    /** The keys or the values of a map; one of the lists is empty. */
    private record Column(List<Long> wholes, List<Float> reals) {
        /** Those of a node in any version; empty if they are texts. */
        static Optional<Column> of(NodeContext node, String name) {
            Optional<OnnxTensor> tensor = node.attributes().tensor(name + "_tensor");
            if (tensor.isPresent()) {
                Constant all = tensor.orElseThrow().constant();
                IntStream places = IntStream.range(0, all.elements());
                return Optional.of(
                        all.type().dtype() == DType.FLOAT32
                                ? new Column(
                                        List.of(), places.mapToObj(all::real).toList())
                                : new Column(places.mapToObj(all::integer).toList(), List.of()));
            }
            List<Long> wholes = node.attributes().wholes(name + "_int64s").orElse(List.of());
            List<Float> reals = node.attributes().reals(name + "_floats").orElse(List.of());
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

        Constant at(Expressions e, List<Integer> places) {
            Shape shape = Shape.of(places.size());
            return isReal()
                    ? e.reals(
                            LinearImporters.floats(
                                    places.stream().map(reals::get).toList()),
                            shape)
                    : e.longs(places.stream().map(wholes::get).toList(), shape);
        }
    }
}
