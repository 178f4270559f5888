// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import io.kiln.artifact.ArchivePaths;
import io.kiln.artifact.Artifact;
import io.kiln.artifact.Convention;
import io.kiln.artifact.DeviceHooks;
import io.kiln.artifact.DlpackType;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.InterfaceNames.Side;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.ExternalPool;
import io.kiln.artifact.ModelMetadata.ExternalPool.Kind;
import io.kiln.artifact.ModelMetadata.Interface;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.artifact.ModelMetadata.Plan;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.artifact.OperatorInfo;
import io.kiln.base.DType;
import io.kiln.base.Problems;
import io.kiln.base.TargetText;
import io.kiln.mlf.RelaySignature.RelayType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Reads one model's part of {@code metadata.json}, completed by the header and the Relay text. */
final class ModelMetadataReader {
    /** How to export an archive that firmware can be built from. */
    static final String EXPORT =
            "Export the model with tvmc compile --output-format=mlf --target=c --runtime=crt --executor=aot"
                    + " --executor-aot-interface-api=c --executor-aot-unpacked-api=1";

    private static final Pattern FUNCTION = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,1000}");
    private static final Pattern TENSOR = Pattern.compile("\\P{Cntrl}{1,1000}");
    private static final Pattern TARGET = Pattern.compile("[ A-Za-z0-9_.,+=-]{1," + TargetText.MAX_LENGTH + "}");
    private static final String NOT_TOLD = "not told";
    private static final int ALIGNMENT = 16;

    /** {@code kDLCPU}. */
    private static final int CPU = 1;

    private final String archive;
    private final Problems problems;
    private final String name;
    private final FormatVersion version;
    private final JsonKey json;
    private final InterfaceText header;
    private final RelaySignature relay;
    private final Optional<PackedCode> packed;
    private final Optional<GraphModel> graph;

    /**
     * @param archive the archive's name, for messages
     * @param problems gets all errors
     * @param name the model's name
     * @param version version of the format
     * @param json its part of the file
     * @param code what its code tells
     */
    ModelMetadataReader(
            String archive, Problems problems, String name, FormatVersion version, JsonKey json, Code code) {
        this.archive = archive;
        this.problems = problems;
        this.name = name;
        this.version = version;
        this.json = json;
        this.header = code.header();
        this.relay = code.relay();
        this.packed = code.packed();
        this.graph = code.graph();
    }

    /**
     * The information in a model's code beside its metadata.
     *
     * @param header its header; without text if it has the packed interface
     * @param relay its Relay text
     * @param packed its packed functions, if it has the packed interface
     * @param graph its graph, if it is for the graph executor
     */
    record Code(InterfaceText header, RelaySignature relay, Optional<PackedCode> packed, Optional<GraphModel> graph) {}

    /** Whether this is a whole model for an executor that Kiln has; what is wrong otherwise is among the problems. */
    static boolean isWhole(FormatVersion version, JsonKey json) {
        JsonKey style = json.at("style");
        boolean isWhole = !version.hasStyles() || style.text().equals("full-model");
        if (!isWhole && style.isThere()) {
            style.wrong("\"full-model\"", EXPORT);
        }
        JsonKey executors = json.at(version.executorsKey());
        boolean isKnown = executors.items().stream()
                .map(JsonKey::text)
                .anyMatch(name -> name.equals(ExecutorKind.AOT.text()) || name.equals(ExecutorKind.GRAPH.text()));
        if (!isKnown && executors.isThere()) {
            executors.wrong(
                    "\"" + ExecutorKind.AOT.text() + "\" or \"" + ExecutorKind.GRAPH.text() + "\" among them", EXPORT);
        }
        return isWhole && isKnown;
    }

    /** Whether a whole model is for the graph executor, and for no other. */
    static boolean isGraph(FormatVersion version, JsonKey json) {
        return json.at(version.executorsKey()).items().stream()
                .map(JsonKey::text)
                .noneMatch(ExecutorKind.AOT.text()::equals);
    }

    ModelMetadata read() {
        JsonKey functions = json.at("memory").at("functions");
        JsonKey main = version.hasFunctions() ? main(functions.at("main")) : functions;
        if (main.isThere() && !main.isObject()) {
            main.wrong("an object");
        }
        boolean isPooled = header.mapsInputs();
        long stated = workspace(main);
        List<ExternalPool> pools = pools(isPooled, stated);
        long workspace = isPooled ? workspaceBytes(pools) : stated;
        List<OperatorInfo> operators = new ArrayList<>();
        if (version.hasFunctions()) {
            functions.at("operator_functions").items().forEach(operator -> operators.add(operator(operator)));
        }
        return new ModelMetadata(
                name,
                target(),
                graph.map(model -> graph(model, main))
                        .or(() -> packed.map(code -> packed(code, main)))
                        .orElseGet(() -> typed(isPooled, main)),
                new ModelMetadata.Memory(
                        workspace,
                        ALIGNMENT,
                        main.at("constants_size_bytes").isThere()
                                ? main.at("constants_size_bytes").bytes()
                                : 0,
                        pools,
                        graph.map(model -> model.graph().storages()).orElse(List.of())),
                new Plan(NOT_TOLD, workspace, 0, List.of()),
                operators);
    }

    /** What an archive of style {@code operator} tells: its operators' names, and the packed functions of its C. */
    ModelMetadata operators(List<String> functions) {
        List<OperatorInfo> operators = json.at("memory").entries().keySet().stream()
                .filter(function -> FUNCTION.matcher(function).matches())
                .map(function -> operator(function, 0))
                .toList();
        return new ModelMetadata(
                name,
                target(),
                new Interface(ExecutorKind.NONE, Convention.PACKED, Io.CALLER, List.of(), List.of(), functions),
                new ModelMetadata.Memory(0, ALIGNMENT, 0),
                new Plan(NOT_TOLD, 0, 0, List.of()),
                operators);
    }

    /** The memory entry of the host core. Models that also use other devices have an entry for each, in any order. */
    private static JsonKey main(JsonKey devices) {
        return devices.items().stream()
                .filter(JsonKey::isObject)
                .filter(entry ->
                        entry.at("device").isThere() && entry.at("device").number() == CPU)
                .findFirst()
                .orElseGet(devices::first);
    }

    private Interface typed(boolean isPooled, JsonKey main) {
        BorderTensors tensors = new BorderTensors(headerPlace(), problems, header, relay);
        List<DeviceHooks> devices = header.members(header.names().devicesStruct()).stream()
                .map(DeviceHooks::new)
                .toList();
        return Interface.typed(
                        isPooled ? Io.WORKSPACE : Io.CALLER,
                        tensors.read(Side.INPUTS, main.at("inputs")),
                        tensors.read(Side.OUTPUTS, main.at("outputs")))
                .withDevices(devices);
    }

    private Interface packed(PackedCode code, JsonKey main) {
        PackedTensors tensors = new PackedTensors(code, relay);
        return new Interface(
                ExecutorKind.AOT,
                code.convention(),
                Io.CALLER,
                tensors.read(Side.INPUTS, main.at("inputs")),
                tensors.read(Side.OUTPUTS, main.at("outputs")),
                code.functions());
    }

    private Interface graph(GraphModel model, JsonKey main) {
        JsonKey outputs = main.at("outputs");
        List<String> names = outputs.isThere() ? List.copyOf(outputs.entries().keySet()) : List.of();
        return new Interface(
                ExecutorKind.GRAPH,
                Convention.PACKED,
                Io.CALLER,
                model.inputs(),
                model.outputs(names),
                model.graph().functions());
    }

    private String headerPlace() {
        return archive + ": " + ArchivePaths.header(name);
    }

    /** Workspace of the operators; in version 1 the allocations without inputs and parameters, which are bound. */
    private long workspace(JsonKey main) {
        if (version.hasFunctions()) {
            return main.isObject() ? main.at("workspace_size_bytes").bytes() : 0;
        }
        JsonKey memory = json.at("memory");
        List<JsonKey> items = memory.first().isThere() ? memory.items() : List.of();
        return items.stream().mapToLong(ModelMetadataReader::allocated).sum();
    }

    private static long allocated(JsonKey item) {
        item.at("storage_id").number();
        long bytes = item.at("size_bytes").bytes();
        JsonKey binding = item.at("input_binding");
        return binding.isThere() && !binding.text(TENSOR, "a tensor's name").isEmpty() ? 0 : bytes;
    }

    /** The pools of the interface in order. A single one without a size has the size that the metadata state. */
    private List<ExternalPool> pools(boolean holdTensors, long stated) {
        List<String> names = header.members(header.names().poolsStruct());
        if (holdTensors && names.isEmpty()) {
            problems.add(
                    "inputs and outputs lie in memory pools, but there is no "
                            + header.names().poolsStruct(),
                    headerPlace(),
                    "a struct with the pools",
                    EXPORT);
        }
        List<ExternalPool> pools = new ArrayList<>();
        for (String pool : names) {
            OptionalLong constants = header.constantPoolBytes(pool);
            OptionalLong workspace = header.workspacePoolBytes(pool);
            if (constants.isPresent()) {
                pools.add(new ExternalPool(pool, Kind.CONSTANTS, constants.getAsLong()));
            } else if (workspace.isPresent() || names.size() == 1) {
                pools.add(new ExternalPool(pool, Kind.WORKSPACE, workspace.orElse(stated)));
            } else {
                problems.add(
                        "the size of the memory pool " + pool + " is not defined",
                        headerPlace(),
                        "a macro " + header.names().poolSize(pool) + " or "
                                + header.names().constantPoolSize(pool),
                        EXPORT);
            }
        }
        return pools;
    }

    /** Bytes of the workspace pools, which hold inputs and outputs beside what the metadata state for operators. */
    private static long workspaceBytes(List<ExternalPool> pools) {
        return pools.stream()
                .filter(pool -> pool.kind() == Kind.WORKSPACE)
                .mapToLong(ExternalPool::bytes)
                .sum();
    }

    /**
     * The target string of the host core. Version 5 has targets in a map by device, later versions in a list. Of several targets, as partitioned
     * models have, C comes before LLVM.
     */
    private String target() {
        JsonKey target = json.at("target");
        JsonKey named = json.at(MetadataJson.TARGET_KEYS).at(Artifact.HOST);
        Collection<JsonKey> items = named.isThere()
                ? List.of(named)
                : target.isObject() ? target.entries().values() : target.items();
        List<String> targets =
                items.stream().map(item -> item.text(TARGET, "a target string")).toList();
        Optional<String> host = TargetText.HOST_KINDS.stream()
                .flatMap(kind ->
                        targets.stream().filter(text -> TargetText.kind(text).equals(kind)))
                .findFirst();
        if (host.isEmpty() && target.isThere()) {
            target.wrong("a target string of kind " + TargetText.HOSTS, EXPORT);
        }
        return host.orElse("").strip();
    }

    private OperatorInfo operator(JsonKey operator) {
        long workspace = operator.at("workspace").items().stream()
                .mapToLong(item -> item.at("workspace_size_bytes").bytes())
                .max()
                .orElse(0);
        return operator(operator.at("function_name").text(FUNCTION, "a name of C"), workspace);
    }

    private OperatorInfo operator(String function, long workspace) {
        String prefix = header.names().prefix() + "_";
        return new OperatorInfo(
                function,
                List.of(),
                function.startsWith(prefix) ? function.substring(prefix.length()) : function,
                List.of(),
                List.of(),
                new OperatorInfo.Cost(0, 0, 0, workspace),
                new OperatorInfo.ChosenSchedule(NOT_TOLD, "the C came in an archive"));
    }

    /**
     * Determines a model's inputs or outputs from the header, which has their order, metadata, which has sizes and element
     * types (since TVM 0.11), and Relay text, which has shapes.
     */
    private record BorderTensors(String where, Problems problems, InterfaceText header, RelaySignature relay) {
        /** The tensors of one side in the order of the header's struct. */
        List<TensorInfo> read(Side side, JsonKey tensors) {
            String struct = header.names().struct(side);
            List<String> members = header.members(struct);
            if (members.isEmpty()) {
                problems.add(
                        struct + " is missing or empty",
                        where,
                        "the interface that TVM prints with --executor-aot-interface-api=c");
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
                    .forEach(left ->
                            left.json().wrong("a member of " + struct + " in the header, which has " + members));
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
                            .wrong(Arrays.stream(DType.values())
                                    .map(DType::text)
                                    .collect(Collectors.joining(", ")));
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

    /**
     * A model's inputs or outputs where there is no header: from {@code kTvmgenMetadata} in the C (tvm/runtime/metadata_types.h), which has order,
     * element types and shapes. Object code has none in a form that could be read; then Relay text and {@code metadata.json} have to do.
     */
    private record PackedTensors(PackedCode code, RelaySignature relay) {
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
                    .map(tensor ->
                            tensor.bytes() + " bytes of " + tensor.dtype().text())
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
            return end < 0
                    ? ""
                    : COMMENT.matcher(text.substring(begin + 1, end)).replaceAll("");
        }

        /** The inputs in the order of the Relay text's parameters; {@code metadata.json} sorts them by name. */
        private List<TensorInfo> inputs(Map<String, TensorInfo> named) {
            List<TensorInfo> tensors = new ArrayList<>();
            relay.inputs()
                    .forEach((name, type) -> Optional.ofNullable(named.remove(name))
                            .ifPresent(tensor -> tensors.add(
                                    type.bytes() == tensor.bytes() ? shaped(tensor, type.shape()) : tensor)));
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
}
