// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.text;

import io.kiln.artifact.NamedTensor;
import io.kiln.artifact.NdArrayFormat;
import io.kiln.ir.Constant;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The JSON after {@code #[metadata]}: a graph of nodes whose root maps {@code relay.Constant} to the constants in order. */
final class MetadataSection {
    /** The kind of node, and the key of the array. */
    static final String CONSTANT = "relay.Constant";

    /** The attributes of an operator that TVM does not know. */
    static final String DICTIONARY = "Map";

    /** Kinds of nodes that hold one number or truth value, or a dictionary of them. */
    static final Set<String> BOXES = Set.of("runtime.BoxInt", "runtime.BoxFloat", "runtime.BoxBool", DICTIONARY);

    /** Number of nodes before the first constant: null, the map, the array, an unspecified device, an empty string. */
    private static final int FIRST_CONSTANT = 5;

    private MetadataSection() {}

    static String of(List<Constant> constants) {
        String indices = IntStream.range(0, constants.size())
                .mapToObj(i -> String.valueOf(i + FIRST_CONSTANT))
                .collect(Collectors.joining(", "));
        String nodes = IntStream.range(0, constants.size())
                .mapToObj(i ->
                        "    {\"type_key\": \"relay.Constant\", \"attrs\": {\"_checked_type_\": \"0\", \"data\": \"" + i
                                + "\", \"span\": \"0\", \"virtual_device_\": \"3\"}}")
                .collect(Collectors.joining(",\n"));
        String arrays = constants.stream()
                .map(constant -> "    \"" + base64(constant) + "\"")
                .collect(Collectors.joining(",\n"));
        return String.format(Locale.ROOT, """
            {
              "root": 1,
              "nodes": [
                {"type_key": ""},
                {"type_key": "Map", "keys": ["relay.Constant"], "data": [2]},
                {"type_key": "Array", "data": [%s]},
                {"type_key": "VirtualDevice", "attrs": {"device_type_int": "-1", "memory_scope": "4", "target": "0", "virtual_device_id": "-1"}},
                {"type_key": "runtime.String"},
            %s
              ],
              "b64ndarrays": [
            %s
              ],
              "attrs": {"tvm_version": "0.16.0"}
            }
            """, indices, nodes, arrays);
    }

    private static String base64(Constant constant) {
        NamedTensor tensor = new NamedTensor(
                constant.name(),
                constant.type().dtype(),
                constant.type().shape().dims(),
                constant.data());
        return Base64.getEncoder().encodeToString(NdArrayFormat.encode(tensor).toArray());
    }
}
