// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import io.kiln.artifact.InterfaceNames.Side;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.DType;
import io.kiln.base.Problems;
import io.kiln.mlf.RelaySignature.RelayType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Determines a model's inputs or outputs from the header, which has their order, metadata, which has sizes and element
 * types (since TVM 0.11), and Relay text, which has shapes.
 */
final class BorderTensors {
    private final String where;
    private final Problems problems;
    private final InterfaceText header;
    private final RelaySignature relay;

    BorderTensors(String where, Problems problems, InterfaceText header, RelaySignature relay) {
        this.where = where;
        this.problems = problems;
        this.header = header;
        this.relay = relay;
    }

    /** The tensors of one side in the order of the header's struct. */
    List<TensorInfo> read(Side side, JsonKey tensors) {
        String struct = header.names().struct(side);
        List<String> members = header.members(struct);
        if (members.isEmpty()) {
            problems.add(
                    struct + " is missing or empty",
                    where,
                    "the interface that TVM prints with --executor-aot-interface-api=c",
                    "");
            return List.of();
        }
        Map<String, Named> stated = new LinkedHashMap<>();
        if (tensors.isThere()) {
            tensors.entries()
                    .forEach((name, json) -> stated.put(RelaySignature.sanitized(name), new Named(name, json)));
        }
        List<TensorInfo> read = new ArrayList<>();
        for (int i = 0; i < members.size(); i++) {
            String member = members.get(i);
            Optional<RelayType> type = typeOf(side, member, i, members.size());
            Optional<TensorInfo> tensor = stated.containsKey(member)
                    ? stated(member, stated.remove(member), type)
                    : type.map(t -> new TensorInfo(member, member, t.dtype(), t.shape(), 0, 0));
            tensor.ifPresentOrElse(read::add, () -> unknown(tensors, member));
        }
        stated.values()
                .forEach(left -> left.json().wrong("a member of " + struct + " in the header, which has " + members));
        return read;
    }

    private record Named(String name, JsonKey json) {}

    private Optional<RelayType> typeOf(Side side, String member, int index, int count) {
        if (side == Side.INPUTS) {
            return Optional.ofNullable(relay.inputs().get(member));
        }
        return relay.outputs().size() == count ? Optional.of(relay.outputs().get(index)) : Optional.empty();
    }

    private Optional<TensorInfo> stated(String member, Named named, Optional<RelayType> relayType) {
        JsonKey json = named.json();
        String text = json.at("dtype").text();
        long bytes = json.at("size").bytes();
        Optional<DType> dtype = RelaySignature.dtype(text);
        if (dtype.isEmpty()) {
            if (!text.isEmpty()) {
                json.at("dtype")
                        .wrong(Arrays.stream(DType.values()).map(DType::text).collect(Collectors.joining(", ")));
            }
            return placeholder(member);
        }
        long elements = bytes / dtype.get().bytes();
        if (bytes % dtype.get().bytes() != 0 || elements > Integer.MAX_VALUE) {
            json.at("size").wrong("a multiple of " + dtype.get().bytes() + ", the size of " + text);
            return placeholder(member);
        }
        List<Integer> shape = relayType
                .filter(type -> type.dtype() == dtype.get() && type.bytes() == bytes)
                .map(RelayType::shape)
                .orElse(List.of((int) elements));
        return Optional.of(new TensorInfo(named.name(), member, dtype.get(), shape, 0, 0));
    }

    /** Placeholder for a tensor with a reported problem. */
    private static Optional<TensorInfo> placeholder(String member) {
        return Optional.of(new TensorInfo(member, member, DType.INT8, List.of(0), 0, 0));
    }

    private void unknown(JsonKey tensors, String member) {
        tensors.at(member)
                .wrong(
                        "{\"dtype\", \"size\"}, or the type in the archive's Relay text",
                        "Export the model again with TVM 0.11 or newer");
    }
}
