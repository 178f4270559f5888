// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.operator;

import io.kiln.base.KilnException;
import io.kiln.frontend.onnx.model.OnnxAttribute;
import io.kiln.frontend.onnx.model.OnnxGraph;
import io.kiln.frontend.onnx.model.OnnxTensor;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;

/** A node's attributes by name. An attribute of a different kind than requested is an error. */
public final class NodeAttributes {
    private final Map<String, OnnxAttribute> values;
    private final BiFunction<String, String, KilnException> failure;

    /** @param failure makes an error from what happened and what was expected */
    NodeAttributes(Map<String, OnnxAttribute> values, BiFunction<String, String, KilnException> failure) {
        this.values = values;
        this.failure = failure;
    }

    /** Whether the file states an attribute. */
    public boolean has(String name) {
        return values.containsKey(name);
    }

    /** An integer, if stated. */
    public Optional<Long> whole(String name) {
        return get(name, OnnxAttribute.Whole.class, "an integer").map(OnnxAttribute.Whole::value);
    }

    /** An integer, or its default. */
    public long whole(String name, long otherwise) {
        return whole(name).orElse(otherwise);
    }

    /** An integer that is 0 or 1. */
    public boolean truth(String name, boolean otherwise) {
        return whole(name, otherwise ? 1 : 0) != 0;
    }

    /** A number, if stated. */
    public Optional<Float> real(String name) {
        return get(name, OnnxAttribute.Real.class, "a float").map(OnnxAttribute.Real::value);
    }

    /** A number, or its default. */
    public float real(String name, float otherwise) {
        return real(name).orElse(otherwise);
    }

    /** A string, or its default. */
    public String text(String name, String otherwise) {
        return get(name, OnnxAttribute.Text.class, "a string")
                .map(OnnxAttribute.Text::value)
                .orElse(otherwise);
    }

    /** Integers, if stated. */
    public Optional<List<Long>> wholes(String name) {
        return get(name, OnnxAttribute.Wholes.class, "integers").map(OnnxAttribute.Wholes::values);
    }

    /** Numbers, if stated. */
    public Optional<List<Float>> reals(String name) {
        return get(name, OnnxAttribute.Reals.class, "floats").map(OnnxAttribute.Reals::values);
    }

    /** Strings, if stated. */
    public Optional<List<String>> texts(String name) {
        return get(name, OnnxAttribute.Texts.class, "strings").map(OnnxAttribute.Texts::values);
    }

    /** A constant, if stated. */
    public Optional<OnnxTensor> tensor(String name) {
        return get(name, OnnxAttribute.Tensor.class, "a tensor").map(OnnxAttribute.Tensor::value);
    }

    /** A body; a missing one is an error. */
    public OnnxGraph body(String name) {
        return get(name, OnnxAttribute.Body.class, "a graph")
                .map(OnnxAttribute.Body::value)
                .orElseThrow(() -> missing(name));
    }

    /** An integer; a missing one is an error. */
    public long requiredWhole(String name) {
        return whole(name).orElseThrow(() -> missing(name));
    }

    /** Integers; missing ones are an error. */
    public List<Long> requiredWholes(String name) {
        return wholes(name).orElseThrow(() -> missing(name));
    }

    /** The error of a missing attribute. */
    public KilnException missing(String name) {
        return failure.apply("its attribute `" + name + "` is missing", "an attribute of that name");
    }

    private <T extends OnnxAttribute> Optional<T> get(String name, Class<T> kind, String expected) {
        OnnxAttribute value = values.get(name);
        if (value == null) {
            return Optional.empty();
        }
        if (!kind.isInstance(value)) {
            throw failure.apply("its attribute `" + name + "` has another kind", expected);
        }
        return Optional.of(kind.cast(value));
    }
}
