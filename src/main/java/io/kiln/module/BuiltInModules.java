// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import io.kiln.base.Bytes;
import io.kiln.base.LazyList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/** The loaders that Kiln brings: C source, code of devices, constants, static libraries, factories of executors, bytecode. */
public final class BuiltInModules implements ModuleLoader {
    static final Set<String> DEVICES = Set.of("cuda", "opencl", "rocm", "metal", "vulkan", "hip", "sdaccel", "aocl");
    private static final Map<String, Function<ModuleReader, ModulePayload>> READERS = readers();

    private static final Pattern SUFFIX = Pattern.compile("[A-Za-z0-9_]{1,16}");

    private static Map<String, Function<ModuleReader, ModulePayload>> readers() {
        Map<String, Function<ModuleReader, ModulePayload>> readers = new TreeMap<>();
        readers.put("c", SourceModule::read);
        readers.put("const_loader", ConstantsModule::read);
        readers.put("metadata", ConstantsModule::read);
        readers.put("static_library", StaticLibraryModule::read);
        readers.put("GraphExecutorFactory", GraphFactoryModule::read);
        readers.put("GraphRuntimeFactory", GraphFactoryModule::read);
        readers.put("AotExecutorFactory", AotFactoryModule::read);
        readers.put("metadata_module", in -> new MetadataModule());
        readers.put("VMExecutable", BytecodeModule::read);
        DEVICES.forEach(device -> readers.put(device, DeviceModule::read));
        return Map.copyOf(readers);
    }

    @Override
    public Set<String> typeKeys() {
        return READERS.keySet();
    }

    @Override
    public ModulePayload load(String typeKey, ModuleReader in) {
        return READERS.get(typeKey).apply(in);
    }

    /** The format of code as the suffix of the file that shows it; {@code bin} if it cannot be one. */
    static String suffix(String format) {
        return SUFFIX.matcher(format).matches() ? format : "bin";
    }

    /**
     * Parameters of a model, from which TVM makes an AOT executor: {@code AotExecutorFactory} (src/runtime/aot_executor/aot_executor_factory.cc).
     *
     * @param names names of the parameters
     * @param parameters the parameters, in the order of their names
     * @param model name under which the factory is found
     */
    public record AotFactoryModule(List<String> names, List<SerializedArray> parameters, String model)
            implements ModulePayload {
        public AotFactoryModule {
            names = LazyList.copyOf(names);
            parameters = LazyList.copyOf(parameters);
        }

        static AotFactoryModule read(ModuleReader in) {
            FactoryParameters parameters = FactoryParameters.read(in);
            return new AotFactoryModule(parameters.names(), parameters.arrays(), in.text("the model's name"));
        }

        @Override
        public void write(ModuleWriter out) {
            new FactoryParameters(names, parameters).write(out);
            out.string(model);
        }

        @Override
        public List<String> functions() {
            return List.of(model);
        }

        @Override
        public List<String> details() {
            return new FactoryParameters(names, parameters).lines();
        }
    }

    /**
     * Code of TVM's virtual machine, which is kept as it is: {@code VMExecutable} (src/runtime/vm/executable.cc).
     *
     * @param code as the virtual machine saves it
     */
    public record BytecodeModule(Bytes code) implements ModulePayload {
        static BytecodeModule read(ModuleReader in) {
            return new BytecodeModule(in.string("the virtual machine's code"));
        }

        @Override
        public void write(ModuleWriter out) {
            out.string(code);
        }

        @Override
        public Map<String, Bytes> files() {
            return Map.of("code.ro", code);
        }
    }

    /** Tells what a model of TVM's C++ runtime takes and returns: {@code metadata_module}. It has no payload; the library holds the metadata. */
    public record MetadataModule() implements ModulePayload {
        @Override
        public void write(ModuleWriter out) {
            // The library has the metadata, as the function get_c_metadata.
        }

        @Override
        public List<String> functions() {
            return List.of("get_metadata");
        }
    }

    /**
     * Source text that is kept in the blob: the module {@code c}.
     *
     * @param code the source
     * @param format its suffix, such as {@code c} or {@code cc}
     * @param functions names of its functions
     * @param constants names of the constants that it needs
     */
    public record SourceModule(Bytes code, String format, List<String> functions, List<String> constants)
            implements ModulePayload {
        public SourceModule {
            functions = LazyList.copyOf(functions);
            constants = LazyList.copyOf(constants);
        }

        static SourceModule read(ModuleReader in) {
            return new SourceModule(
                    in.string("the source"),
                    in.text("the source's format"),
                    in.texts("functions"),
                    in.texts("constants"));
        }

        @Override
        public void write(ModuleWriter out) {
            out.string(code).string(format).strings(functions).strings(constants);
        }

        @Override
        public Map<String, Bytes> files() {
            return Map.of("source." + suffix(format), code);
        }
    }

    /**
     * An object file that is kept in the blob: {@code static_library} of a tree that was not linked.
     *
     * @param object the object file
     * @param functions names of its functions
     */
    public record StaticLibraryModule(Bytes object, List<String> functions) implements ModulePayload {
        public StaticLibraryModule {
            functions = LazyList.copyOf(functions);
        }

        static StaticLibraryModule read(ModuleReader in) {
            return new StaticLibraryModule(in.string("the object"), in.texts("functions"));
        }

        @Override
        public void write(ModuleWriter out) {
            out.string(object).strings(functions);
        }

        @Override
        public Map<String, Bytes> files() {
            return Map.of("object.o", object);
        }
    }

    /**
     * A graph with its parameters, from which TVM makes a graph executor: {@code GraphExecutorFactory}.
     *
     * @param graph the graph as JSON
     * @param names names of the parameters
     * @param parameters the parameters, in the order of their names
     * @param model name under which the factory is found
     */
    public record GraphFactoryModule(Bytes graph, List<String> names, List<SerializedArray> parameters, String model)
            implements ModulePayload {
        public GraphFactoryModule {
            names = LazyList.copyOf(names);
            parameters = LazyList.copyOf(parameters);
        }

        static GraphFactoryModule read(ModuleReader in) {
            Bytes graph = in.string("the graph");
            FactoryParameters parameters = FactoryParameters.read(in);
            return new GraphFactoryModule(graph, parameters.names(), parameters.arrays(), in.text("the model's name"));
        }

        @Override
        public void write(ModuleWriter out) {
            out.string(graph);
            new FactoryParameters(names, parameters).write(out);
            out.string(model);
        }

        @Override
        public List<String> functions() {
            return List.of(model);
        }

        @Override
        public List<String> details() {
            return new FactoryParameters(names, parameters).lines();
        }

        @Override
        public Map<String, Bytes> files() {
            return Map.of("graph.json", graph);
        }
    }

    /**
     * The parameters of an executor's factory: their number, their names, then the arrays.
     *
     * @param names of the parameters
     * @param arrays in the order of their names
     */
    private record FactoryParameters(List<String> names, List<SerializedArray> arrays) {
        FactoryParameters {
            names = LazyList.copyOf(names);
            arrays = LazyList.copyOf(arrays);
        }

        static FactoryParameters read(ModuleReader in) {
            int at = in.position();
            int count = in.count(SerializedArray.LEAST_BYTES, "the number of parameters");
            List<String> names = in.texts("parameters");
            if (names.size() != count) {
                throw in.broken("there are " + count + " parameters and " + names.size() + " names", at);
            }
            return new FactoryParameters(names, SerializedArray.list(in, count));
        }

        void write(ModuleWriter out) {
            out.u64(names.size()).strings(names);
            arrays.forEach(array -> out.raw(array.bytes()));
        }

        /** The parameters as text, a line for each. */
        List<String> lines() {
            return IntStream.range(0, names.size())
                    .mapToObj(i -> names.get(i) + ": " + arrays.get(i).text())
                    .toList();
        }
    }

    /**
     * Constants that functions of the imported modules get before their first call: {@code const_loader}, or {@code metadata} in older libraries.
     *
     * @param variables names of the constants
     * @param arrays the constants, in the order of their names
     * @param symbols functions that need constants
     * @param needed names of the constants that each function needs
     */
    public record ConstantsModule(
            List<String> variables, List<SerializedArray> arrays, List<String> symbols, List<List<String>> needed)
            implements ModulePayload {
        private static final String NEEDED = "constants of a function";

        public ConstantsModule {
            variables = LazyList.copyOf(variables);
            arrays = LazyList.copyOf(arrays);
            symbols = LazyList.copyOf(symbols);
            needed = needed instanceof LazyList
                    ? needed
                    : needed.stream().map(List::copyOf).toList();
        }

        static ConstantsModule read(ModuleReader in) {
            List<String> variables = in.texts("constants");
            int at = in.position();
            List<SerializedArray> arrays =
                    SerializedArray.list(in, in.count(SerializedArray.LEAST_BYTES, "the number of arrays"));
            same(in, variables.size(), arrays.size(), "constants", at);
            List<String> symbols = in.texts("functions with constants");
            at = in.position();
            List<List<String>> needed = in.items(
                    in.count(8, "the number of lists of constants"),
                    each -> each.skipTexts(NEEDED),
                    each -> each.texts(NEEDED));
            same(in, symbols.size(), needed.size(), "functions", at);
            return new ConstantsModule(variables, arrays, symbols, needed);
        }

        private static void same(ModuleReader in, int names, int values, String what, int at) {
            if (names != values) {
                throw in.broken("there are " + names + " names of " + what + " and " + values + " values", at);
            }
        }

        @Override
        public List<String> functions() {
            return symbols;
        }

        @Override
        public List<String> details() {
            return IntStream.range(0, arrays.size())
                    .mapToObj(i -> variables.get(i) + ": " + arrays.get(i).text())
                    .toList();
        }

        @Override
        public void write(ModuleWriter out) {
            out.strings(variables).u64(arrays.size());
            arrays.forEach(array -> out.raw(array.bytes()));
            out.strings(symbols).u64(needed.size());
            needed.forEach(out::strings);
        }
    }
}
