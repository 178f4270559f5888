// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.control;

import io.kiln.frontend.onnx.model.OnnxGraph;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.ir.Arg;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/** {@code Scan}: a body for each slice of some inputs. Version 8 also has a batch axis, which must be of size 1. */
final class ScanImporter implements OnnxImporter {
    private static final int WITHOUT_BATCH = 9;

    @Override
    public void emit(NodeContext node) {
        Expressions e = new Expressions(node);
        OnnxGraph body = node.attributes().body("body");
        boolean hasBatch = node.version() < WITHOUT_BATCH;
        int first = hasBatch ? 1 : 0;
        node.require(!hasBatch || !node.has(0), "it has lengths of sequences", "sequences of one length");
        int given = node.inputs() - first;
        long scans = node.attributes().requiredWhole("num_scan_inputs");
        node.require(scans > 0 && scans <= given, "its num_scan_inputs is " + scans, "1 to " + given);
        int states = given - (int) scans;
        List<OnnxValue> inputsWithoutBatch = IntStream.range(first, node.inputs())
                .mapToObj(i -> unbatched(e, node, node.input(i), hasBatch))
                .toList();
        List<OnnxValue> carried = inputsWithoutBatch.subList(0, states);
        List<OnnxValue> sequences = inputsWithoutBatch.subList(states, given);
        List<Integer> axes = axes(node, "scan_input_axes", sequences.size());
        List<Boolean> reversed = reversed(node, hasBatch ? "directions" : "scan_input_directions", sequences.size());
        int steps = e.shape(sequences.get(0).arg()).dim(axes.get(0));
        int results = body.outputs().size() - states;
        node.require(results >= 0, "its body has too few results", "all states");
        List<List<OnnxValue>> scanned = new ArrayList<>();
        for (int i = 0; i < results; i++) {
            scanned.add(new ArrayList<>());
        }
        for (int step = 0; step < steps; step++) {
            List<OnnxValue> inputs = new ArrayList<>(carried);
            for (int i = 0; i < sequences.size(); i++) {
                int at = reversed.get(i) ? steps - 1 - step : step;
                inputs.add(slice(e, sequences.get(i), axes.get(i), at));
            }
            List<OnnxValue> outputs = node.run("body", inputs);
            carried = outputs.subList(0, states);
            for (int i = 0; i < results; i++) {
                scanned.get(i).add(outputs.get(states + i));
            }
        }
        finish(e, node, carried, scanned, hasBatch);
    }

    private static void finish(
            Expressions e, NodeContext node, List<OnnxValue> carried, List<List<OnnxValue>> scanned, boolean hasBatch) {
        for (int i = 0; i < carried.size(); i++) {
            finish(e, node, i, carried.get(i).arg(), carried.get(i), hasBatch);
        }
        List<Integer> axes = axes(node, "scan_output_axes", scanned.size());
        List<Boolean> reversed = reversed(node, "scan_output_directions", scanned.size());
        for (int i = 0; i < scanned.size(); i++) {
            List<OnnxValue> values = new ArrayList<>(scanned.get(i));
            if (reversed.get(i)) {
                Collections.reverse(values);
            }
            finish(
                    e,
                    node,
                    carried.size() + i,
                    ControlImporters.stacked(e, values, axes.get(i)),
                    values.get(0),
                    hasBatch);
        }
    }

    private static void finish(
            Expressions e, NodeContext node, int output, Arg value, OnnxValue like, boolean hasBatch) {
        List<Integer> dims = new ArrayList<>(e.shape(value).dims());
        if (hasBatch) {
            dims.add(0, 1);
        }
        node.finish(output, e.reshape(value, dims), like.type());
    }

    private static OnnxValue unbatched(Expressions e, NodeContext node, OnnxValue value, boolean hasBatch) {
        if (!hasBatch) {
            return value;
        }
        Shape shape = e.shape(value.arg());
        node.require(shape.rank() > 0 && shape.dim(0) == 1, "its batch is " + shape.text(), "a batch of 1");
        return new OnnxValue(e.reshape(value.arg(), shape.dims().subList(1, shape.rank())), value.type());
    }

    private static OnnxValue slice(Expressions e, OnnxValue value, int axis, int at) {
        List<Integer> dims = new ArrayList<>(e.shape(value.arg()).dims());
        dims.remove(axis);
        return new OnnxValue(e.reshape(e.slice(value.arg(), axis, at, at + 1), dims), value.type());
    }

    private static List<Integer> axes(NodeContext node, String name, int count) {
        List<Long> stated = node.attributes().wholes(name).orElse(Collections.nCopies(count, 0L));
        node.require(
                stated.size() == count && stated.stream().allMatch(a -> a >= 0 && a < 8),
                "its " + name + " are " + stated,
                count + " axes, counted from 0");
        return stated.stream().map(Long::intValue).toList();
    }

    private static List<Boolean> reversed(NodeContext node, String name, int count) {
        List<Long> stated = node.attributes().wholes(name).orElse(Collections.nCopies(count, 0L));
        node.require(stated.size() == count, "its " + name + " are " + stated, count + " directions");
        return stated.stream().map(d -> d != 0).toList();
    }
}
