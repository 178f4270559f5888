// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.model;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A model file.
 *
 * @param file name of the file, for messages
 * @param opsets versions of the operator sets
 * @param graph the model
 * @param functions its functions
 */
public record OnnxModel(String file, Opsets opsets, OnnxGraph graph, List<OnnxFunction> functions) {
    public OnnxModel {
        functions = List.copyOf(functions);
    }

    /**
     * A graph: a model, or a body of a control flow operator.
     *
     * @param nodes operators in execution order
     * @param initializers constants by name
     * @param inputs inputs, without those that are initializers
     * @param values stated types of other values, by name
     */
    public record OnnxGraph(
            String name,
            List<OnnxNode> nodes,
            Map<String, OnnxTensor> initializers,
            List<OnnxValueInfo> inputs,
            List<OnnxValueInfo> outputs,
            Map<String, OnnxValueInfo> values) {
        public OnnxGraph {
            nodes = List.copyOf(nodes);
            initializers = Collections.unmodifiableMap(new LinkedHashMap<>(initializers));
            inputs = List.copyOf(inputs);
            outputs = List.copyOf(outputs);
            values = Map.copyOf(values);
        }
    }

    /**
     * A function of a model: an operator defined by nodes.
     *
     * @param name name of the operator
     * @param inputs names of its inputs
     * @param outputs names of its outputs
     * @param defaults values of attributes that a call leaves out
     * @param nodes operators in execution order
     * @param opsets versions of the domains that it uses
     */
    public record OnnxFunction(
            String domain,
            String name,
            List<String> inputs,
            List<String> outputs,
            Map<String, OnnxNode.OnnxAttribute> defaults,
            List<OnnxNode> nodes,
            Opsets opsets) {
        public OnnxFunction {
            inputs = List.copyOf(inputs);
            outputs = List.copyOf(outputs);
            defaults = Map.copyOf(defaults);
            nodes = List.copyOf(nodes);
        }
    }

    /**
     * The stated type of a value.
     *
     * @param kind {@code tensor}, or another kind, such as {@code sequence}
     * @param type element type of a tensor
     * @param dimensions its dimensions; empty if the file states none
     */
    public record OnnxValueInfo(String name, String kind, ElementType type, Optional<List<Dimension>> dimensions) {
        /** The kind of a tensor. */
        public static final String TENSOR = "tensor";

        /**
         * A dimension.
         *
         * @param size its size; empty if it is open
         * @param name name of an open dimension; empty if it has none
         */
        public record Dimension(Optional<Long> size, String name) {}

        public OnnxValueInfo {
            dimensions = dimensions.map(List::copyOf);
        }
    }

    /**
     * Versions of operator sets.
     *
     * @param versions by domain; ONNX's own domain is empty
     */
    public record Opsets(Map<String, Integer> versions) {
        /** The other name of ONNX's own domain. */
        public static final String LONG_NAME = "ai.onnx";

        public Opsets {
            versions = Map.copyOf(versions);
        }

        /** The version of a domain, if the model imports it. */
        public Optional<Integer> version(String domain) {
            return Optional.ofNullable(versions.get(domain));
        }

        /** A domain's name in one form: empty for ONNX's own. */
        public static String domain(String name) {
            return name.equals(LONG_NAME) ? "" : name;
        }
    }
}
