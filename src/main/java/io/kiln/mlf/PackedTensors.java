// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import io.kiln.artifact.DlpackType;
import io.kiln.artifact.InterfaceNames.Side;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.DType;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A model's inputs or outputs where there is no header: from {@code kTvmgenMetadata} in the C (tvm/runtime/metadata_types.h), which has order,
 * element types and shapes. Object code has none in a form that could be read; then Relay text and {@code metadata.json} have to do.
 */
record PackedTensors(PackedCode code, RelaySignature relay) {
    private static final String ROOT = "kTvmgenMetadata_";
    private static final int MOST_DIGITS = 9;
    private static final Pattern COMMENT = Pattern.compile("/\\*[^*]{0,200}\\*/");
    private static final Pattern NUMBER = Pattern.compile("-?[0-9]+");
    private static final Pattern INFO =
            Pattern.compile("\\{\\s*\"([^\"]{0,1000})\"\\s*,\\s*(\\w+)\\s*,\\s*[0-9]{1,9}L?\\s*,"
                    + "\\s*\\{\\s*(\\w{1,20})\\s*,\\s*([0-9]{1,3})\\s*,\\s*1\\s*\\}\\s*\\}");
    private static final List<String> CODES = List.of("kDLInt", "kDLUInt", "kDLFloat");

    /**
     * The tensors of one side in the order of the arguments.
     *
     * @param stated what {@code metadata.json} says of them
     */
    List<TensorInfo> read(Side side, JsonKey stated) {
        Map<String, TensorInfo> named = new LinkedHashMap<>();
        List<TensorInfo> known = metadata(side);
        if (!stated.isThere() && !known.isEmpty()) {
            // Before TVM 0.11 only the C tells.
            return known;
        }
        stated.entries()
                .forEach((name, json) -> stated(name, json).ifPresent(tensor -> named.put(tensor.cName(), tensor)));
        if (known.isEmpty()) {
            return side == Side.INPUTS ? inputs(named) : outputs(named);
        }
        List<TensorInfo> tensors = new ArrayList<>();
        for (TensorInfo tensor : known) {
            // A single output has a name of its own in one file, and a number in the other.
            TensorInfo same = known.size() == 1 && named.size() == 1
                    ? named.values().iterator().next()
                    : named.getOrDefault(tensor.cName(), tensor);
            tensors.add(new TensorInfo(same.name(), same.cName(), tensor.dtype(), tensor.shape(), 0, 0));
        }
        if (!sizes(tensors).equals(sizes(named.values().stream().toList()))) {
            stated.wrong("tensors of the element types and sizes that " + ROOT + side.text() + " in the C has: "
                    + sizes(tensors));
        }
        return tensors;
    }

    private static List<String> sizes(List<TensorInfo> tensors) {
        return tensors.stream()
                .sorted(Comparator.comparing(TensorInfo::bytes).thenComparing(TensorInfo::dtype))
                .map(tensor -> tensor.bytes() + " bytes of " + tensor.dtype().text())
                .toList();
    }

    /** The description of a tensor; one without a shape has one dimension. */
    private static Optional<TensorInfo> stated(String name, JsonKey json) {
        String type = json.at("dtype").text();
        long bytes = json.at("size").bytes();
        Optional<DType> dtype = RelaySignature.dtype(type);
        if (dtype.isEmpty() && !type.isEmpty()) {
            json.at("dtype").wrong("an element type that Kiln has");
        }
        if (dtype.isPresent()
                && (bytes % dtype.get().bytes() != 0 || bytes / dtype.get().bytes() > Integer.MAX_VALUE)) {
            json.at("size").wrong("a multiple of " + dtype.get().bytes() + ", the size of " + type);
            return Optional.empty();
        }
        return dtype.map(known -> new TensorInfo(
                name, RelaySignature.sanitized(name), known, List.of((int) (bytes / known.bytes())), 0, 0));
    }

    private List<TensorInfo> metadata(Side side) {
        List<TensorInfo> tensors = new ArrayList<>();
        Matcher infos = INFO.matcher(initializer(ROOT + side.text()));
        while (infos.find()) {
            int kind = CODES.indexOf(infos.group(3));
            int digit = kind >= 0
                    ? kind
                    : infos.group(3).length() == 1 ? infos.group(3).charAt(0) - '0' : CODES.size();
            Optional<DType> dtype = new DlpackType(digit, Integer.parseInt(infos.group(4))).dtype();
            List<Integer> shape = shape(infos.group(2));
            if (dtype.isEmpty() || shape.stream().anyMatch(dim -> dim < 0)) {
                return List.of();
            }
            tensors.add(new TensorInfo(infos.group(1), infos.group(1), dtype.get(), shape, 0, 0));
        }
        return tensors;
    }

    private List<Integer> shape(String array) {
        List<Integer> shape = new ArrayList<>();
        Matcher numbers = NUMBER.matcher(initializer(array));
        while (numbers.find()) {
            shape.add(numbers.group().length() > MOST_DIGITS ? -1 : Integer.parseInt(numbers.group()));
        }
        return shape;
    }

    /** The initializer of an array in the C; empty if there is no such array. */
    private String initializer(String array) {
        String text = code.text();
        int name = text.indexOf(" " + array + "[");
        int begin = name < 0 ? -1 : text.indexOf('{', name);
        int end = begin < 0 ? -1 : text.indexOf("};", begin);
        return end < 0 ? "" : COMMENT.matcher(text.substring(begin + 1, end)).replaceAll("");
    }

    /** The inputs in the order of the Relay text's parameters; {@code metadata.json} sorts them by name. */
    private List<TensorInfo> inputs(Map<String, TensorInfo> named) {
        List<TensorInfo> tensors = new ArrayList<>();
        relay.inputs()
                .forEach((name, type) -> Optional.ofNullable(named.remove(name))
                        .ifPresent(tensor ->
                                tensors.add(type.bytes() == tensor.bytes() ? shaped(tensor, type.shape()) : tensor)));
        tensors.addAll(named.values());
        return tensors;
    }

    /** The outputs in the order of the Relay text's results. Where the text leaves types out, each tensor is taken for a batch of one. */
    private List<TensorInfo> outputs(Map<String, TensorInfo> named) {
        List<TensorInfo> tensors = named.values().stream()
                .sorted(Comparator.comparingInt(
                                (TensorInfo tensor) -> tensor.name().length())
                        .thenComparing(TensorInfo::name))
                .toList();
        List<TensorInfo> shaped = new ArrayList<>();
        for (TensorInfo tensor : tensors) {
            int index = shaped.size();
            shaped.add(
                    relay.outputs().size() == tensors.size()
                            ? shaped(tensor, relay.outputs().get(index).shape())
                            : shaped(tensor, List.of(1, tensor.shape().get(0))));
        }
        return shaped;
    }

    private static TensorInfo shaped(TensorInfo tensor, List<Integer> shape) {
        return new TensorInfo(tensor.name(), tensor.cName(), tensor.dtype(), shape, 0, 0);
    }
}
