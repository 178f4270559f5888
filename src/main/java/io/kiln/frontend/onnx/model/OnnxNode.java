// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.model;

import io.kiln.frontend.onnx.model.OnnxModel.OnnxGraph;
import io.kiln.ir.Origin;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * An operator of a graph.
 *
 * @param index its index among the nodes of its graph
 * @param name its name; often empty
 * @param domain domain of the operator; empty for ONNX's own
 * @param operator name of the operator
 * @param inputs names of its inputs; empty for one that is left out
 * @param outputs names of its outputs, likewise
 * @param attributes values by name
 */
public record OnnxNode(
        int index,
        String name,
        String domain,
        String operator,
        List<String> inputs,
        List<String> outputs,
        Map<String, OnnxAttribute> attributes) {
    private static final int MOST_NAMES = 8;

    public OnnxNode {
        inputs = List.copyOf(inputs);
        outputs = List.copyOf(outputs);
        attributes = Map.copyOf(attributes);
    }

    /** Domain and name of the operator, as in messages. */
    public String type() {
        return domain.isEmpty() ? operator : domain + "." + operator;
    }

    /** The same place in the file as a call of another operator. */
    public OnnxNode with(String otherDomain, String otherOperator, List<String> otherInputs) {
        return new OnnxNode(index, name, otherDomain, otherOperator, otherInputs, outputs, attributes);
    }

    /** The same node without an attribute. */
    public OnnxNode without(String attribute) {
        Map<String, OnnxAttribute> others = new HashMap<>(attributes);
        others.remove(attribute);
        return new OnnxNode(index, name, domain, operator, inputs, outputs, others);
    }

    /**
     * The origin of what the node becomes.
     *
     * @param file name of the model's file
     * @param number its number among all nodes that are imported
     */
    public Origin origin(String file, int number) {
        String tensor =
                outputs.stream().filter(output -> !output.isEmpty()).findFirst().orElse("");
        return new Origin(file, number, type(), tensor);
    }

    /**
     * The node's place, for messages.
     *
     * @param file name of the model's file
     */
    public String where(String file) {
        String own = name.isEmpty() ? "" : " `" + name + "`";
        return file + ": node #" + index + " " + type() + own + " (" + names(inputs) + " -> " + names(outputs) + ")";
    }

    private static String names(List<String> names) {
        String text = String.join(", ", names.subList(0, Math.min(MOST_NAMES, names.size())));
        return names.size() > MOST_NAMES ? text + ", ..." : text;
    }

    /** The value of a node's attribute. */
    public sealed interface OnnxAttribute {
        record Whole(long value) implements OnnxAttribute {}

        record Real(float value) implements OnnxAttribute {}

        record Text(String value) implements OnnxAttribute {}

        /** A constant tensor. */
        record Tensor(OnnxTensor value) implements OnnxAttribute {}

        /** A body of a control flow operator. */
        record Body(OnnxGraph value) implements OnnxAttribute {}

        record Wholes(List<Long> values) implements OnnxAttribute {
            public Wholes {
                values = List.copyOf(values);
            }
        }

        record Reals(List<Float> values) implements OnnxAttribute {
            public Reals {
                values = List.copyOf(values);
            }
        }

        record Texts(List<String> values) implements OnnxAttribute {
            public Texts {
                values = List.copyOf(values);
            }
        }

        /** Inside a function: the attribute of that name of the function's call. */
        record Reference(String name) implements OnnxAttribute {}

        /** A kind that no supported operator has, by its name in the schema. */
        record Other(String kind) implements OnnxAttribute {}
    }
}
