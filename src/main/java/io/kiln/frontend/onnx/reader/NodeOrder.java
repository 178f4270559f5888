// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.reader;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.frontend.onnx.model.OnnxAttribute;
import io.kiln.frontend.onnx.model.OnnxGraph;
import io.kiln.frontend.onnx.model.OnnxNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;

/**
 * Puts the nodes of a graph in an order in which each follows those whose results it reads, as the format demands and some tools do not
 * write. Of the nodes that can be next, the first in the file is.
 */
final class NodeOrder {
    private static final int MOST_SHOWN = 8;

    private final List<OnnxNode> nodes;
    private final Map<String, Integer> producers = new HashMap<>();
    private final List<List<Integer>> readers = new ArrayList<>();
    private final int[] missing;

    private NodeOrder(List<OnnxNode> nodes) {
        this.nodes = nodes;
        this.missing = new int[nodes.size()];
        for (int i = 0; i < nodes.size(); i++) {
            readers.add(new ArrayList<>());
            for (String output : nodes.get(i).outputs()) {
                producers.putIfAbsent(output, i);
            }
        }
        producers.remove("");
        for (int i = 0; i < nodes.size(); i++) {
            for (int producer : producers(i)) {
                readers.get(producer).add(i);
                missing[i]++;
            }
        }
    }

    /**
     * The nodes in order. A name that no node computes is an input, a constant, or one of the graph around it.
     *
     * @param file name of the file, for messages
     * @throws KilnException if nodes read results of each other in a circle
     */
    static List<OnnxNode> sorted(List<OnnxNode> nodes, String file) {
        return new NodeOrder(nodes).sorted(file);
    }

    private List<OnnxNode> sorted(String file) {
        PriorityQueue<Integer> ready = new PriorityQueue<>();
        for (int i = 0; i < missing.length; i++) {
            if (missing[i] == 0) {
                ready.add(i);
            }
        }
        List<OnnxNode> sorted = new ArrayList<>();
        while (!ready.isEmpty()) {
            int next = ready.remove();
            sorted.add(nodes.get(next));
            for (int reader : readers.get(next)) {
                if (--missing[reader] == 0) {
                    ready.add(reader);
                }
            }
        }
        if (sorted.size() < nodes.size()) {
            throw circle(file);
        }
        return sorted;
    }

    /** The nodes of this graph whose results a node or its bodies read. */
    private Set<Integer> producers(int node) {
        Set<Integer> found = new LinkedHashSet<>();
        for (String name : read(nodes.get(node))) {
            Integer producer = producers.get(name);
            if (producer != null) {
                found.add(producer);
            }
        }
        return found;
    }

    private static Set<String> read(OnnxNode node) {
        Set<String> names = new LinkedHashSet<>(node.inputs());
        node.attributes().values().forEach(attribute -> {
            if (attribute instanceof OnnxAttribute.Body body) {
                names.addAll(readFromAround(body.value()));
            }
        });
        return names;
    }

    /** The names of the graph around it that a body reads. */
    private static Set<String> readFromAround(OnnxGraph body) {
        Set<String> names = new LinkedHashSet<>();
        Set<String> own = new HashSet<>(body.initializers().keySet());
        body.inputs().forEach(input -> own.add(input.name()));
        for (OnnxNode node : body.nodes()) {
            names.addAll(read(node));
            own.addAll(node.outputs());
        }
        body.outputs().forEach(output -> names.add(output.name()));
        names.removeAll(own);
        return names;
    }

    /** Every node that is left waits for another one that is left, so following them back from any of them ends in a circle. */
    private KilnException circle(String file) {
        int at = 0;
        while (missing[at] == 0) {
            at++;
        }
        Map<Integer, Integer> place = new HashMap<>();
        List<Integer> path = new ArrayList<>();
        while (!place.containsKey(at)) {
            place.put(at, path.size());
            path.add(at);
            at = producers(at).stream()
                    .filter(producer -> missing[producer] > 0)
                    .findFirst()
                    .orElseThrow();
        }
        List<Integer> circle = path.subList(place.get(at), path.size());
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < Math.min(circle.size(), MOST_SHOWN); i++) {
            OnnxNode node = nodes.get(circle.get(i));
            text.append(i == 0 ? "#" : " reads #")
                    .append(node.index())
                    .append(" ")
                    .append(node.type());
        }
        text.append(circle.size() > MOST_SHOWN ? " reads ..." : "")
                .append(" reads #")
                .append(nodes.get(at).index());
        return new KilnException(Failure.MODEL.problem(
                (circle.size() == 1
                                ? "a node reads its own result: "
                                : circle.size() + " nodes read each other's results in a circle: ")
                        + text,
                file,
                "a graph in which each node can run after others",
                "Correct the names of inputs and outputs in the tool that wrote the file"));
    }
}
