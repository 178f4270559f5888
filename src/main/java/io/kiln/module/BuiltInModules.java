// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;

/** The loaders that Kiln brings: C source, code of devices, constants, static libraries, factories of executors, bytecode. */
public final class BuiltInModules implements ModuleLoader {
    static final Set<String> DEVICES = Set.of("cuda", "opencl", "rocm", "metal", "vulkan", "hip", "sdaccel", "aocl");
    private static final Map<String, Function<ModuleReader, ModulePayload>> READERS = readers();

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
}
