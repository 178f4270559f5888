// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.kiln.base.Bytes;
import io.kiln.module.BuiltInModules.AotFactoryModule;
import io.kiln.module.BuiltInModules.BytecodeModule;
import io.kiln.module.BuiltInModules.ConstantsModule;
import io.kiln.module.BuiltInModules.GraphFactoryModule;
import io.kiln.module.BuiltInModules.MetadataModule;
import io.kiln.module.BuiltInModules.SourceModule;
import io.kiln.module.BuiltInModules.StaticLibraryModule;
import io.kiln.module.ModuleTree.LinkedCode;
import io.kiln.module.ModuleTree.ModuleNode;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ModuleTreeTest {
    private static final ModuleLoaders LOADERS = ModuleLoaders.installed();

    @Test
    void bytesOfALibraryWithACudaModuleAreTvms() {
        DeviceModule cuda = new DeviceModule("ptx", Map.of(), Bytes.ofText("PTX"));
        ModuleTree tree = ModuleExport.tree(
                List.of(new ModuleNode("llvm", new LinkedCode(List.of()), List.of(1)), node("cuda", cuda)));
        String payload = "0300000000000000" + "707478" + "0000000000000000" + "0300000000000000" + "505458";
        String stream = "0300000000000000"
                + "0400000000000000" + "5f6c6962"
                + "0400000000000000" + "63756461" + payload
                + "0c00000000000000" + "5f696d706f72745f74726565"
                + "0300000000000000" + "0000000000000000" + "0100000000000000" + "0100000000000000"
                + "0100000000000000" + "0100000000000000";
        assertThat(hex(ModuleBlob.stream(tree))).isEqualTo(stream);
        assertThat(hex(ModuleBlob.write(tree))).isEqualTo("8200000000000000" + stream);
        ModuleTree read = read(ModuleBlob.write(tree));
        assertThat(read).isEqualTo(tree);
        assertThat(read.root().typeKey()).isEqualTo("library");
        assertThat(read.modules().get(1)).isEqualTo(node("cuda", cuda));
    }

    @Test
    void aFunctionTableKeepsTypesAndLaunchParameters() {
        Map<String, DeviceModule.FunctionInfo> table = new LinkedHashMap<>();
        table.put(
                "b",
                new DeviceModule.FunctionInfo("b", List.of(0x014003, 0x012000), List.of("blockIdx.x", "threadIdx.x")));
        table.put("a", new DeviceModule.FunctionInfo("a", List.of(0x042002), List.of()));
        DeviceModule cuda = new DeviceModule("cubin", table, Bytes.wrap(new byte[] {0, -1, 7}));
        ModuleTree tree = new ModuleTree(List.of(node("cuda", cuda)), true);
        ModuleTree read = ModuleBlob.readStream(ModuleBlob.stream(tree), LOADERS, "x");
        assertThat(read).isEqualTo(tree);
        assertThat(read.root().payload().functions()).containsExactly("b", "a");
        assertThat(table.get("b").signature()).isEqualTo("b(handle, int32) <<blockIdx.x, threadIdx.x>>");
        assertThat(table.get("a").signature()).isEqualTo("a(float32x4)");
    }

    @Test
    void severalLinkedModulesBecomeOneLibrary() {
        List<ModuleNode> chain = List.of(
                new ModuleNode("c", new LinkedCode(List.of("g", "f")), List.of(1)),
                new ModuleNode("c", new LinkedCode(List.of("f")), List.of(2)),
                node("cuda", cuda("x")));
        ModuleTree tree = ModuleExport.tree(chain);
        assertThat(tree.modules()).hasSize(2);
        assertThat(tree.root()).isEqualTo(new ModuleNode("library", new LinkedCode(List.of("f", "g")), List.of(1)));
    }

    @Test
    void linkedCodeOnBothSidesOfADeviceIsACycle() {
        List<ModuleNode> chain = List.of(
                new ModuleNode("c", new LinkedCode(List.of()), List.of(1)),
                new ModuleNode("cuda", cuda("x"), List.of(2)),
                new ModuleNode("c", new LinkedCode(List.of()), List.of()));
        assertThatThrownBy(() -> ModuleExport.tree(chain))
                .hasMessageContaining("cannot be merged without creating a cycle in the import tree")
                .hasMessageContaining("Related module keys: parent=cuda, child=c");
    }

    @Test
    void aLoneLibraryNeedsNoTree() {
        ModuleTree tree = ModuleExport.tree(List.of(new ModuleNode("llvm", new LinkedCode(List.of("f")), List.of())));
        assertThat(tree).isEqualTo(ModuleTree.ofLibrary(List.of("f")));
        assertThat(hex(ModuleBlob.stream(tree))).isEqualTo("0000000000000000");
    }

    @Test
    void importsThatAreACycleDangleOrAreNotSortedAreRefused() {
        for (List<Integer> imports : List.of(List.of(0), List.of(2, 1), List.of(1, 1), List.of(3), List.of(-1))) {
            assertThatThrownBy(() -> new ModuleTree(
                            List.of(
                                    new ModuleNode("cuda", cuda("x"), imports),
                                    node("cuda", cuda("y")),
                                    node("cuda", cuda("z"))),
                            true))
                    .hasMessageContaining("imports are sorted, lie behind the module, and are fewer than 3");
        }
    }

    @Test
    void linkedCodeInAStreamWithoutLibraryIsRefused() {
        Bytes stream = ModuleBlob.stream(ModuleExport.tree(
                List.of(new ModuleNode("cuda", cuda("x"), List.of(1)), node("c", new LinkedCode(List.of())))));
        assertThatThrownBy(() -> ModuleBlob.readStream(stream, LOADERS, "blob"))
                .hasMessageContaining("blob, offset 0x")
                .hasMessageContaining("`_lib` stands in a stream that belongs to no library");
    }

    @Test
    void aLoaderOfOthersIsAskedAndNamedIfItFails() {
        ModuleLoader own = new ModuleLoader() {
            @Override
            public Set<String> typeKeys() {
                return Set.of("npu");
            }

            @Override
            public ModulePayload load(String typeKey, ModuleReader in) {
                throw new IllegalStateException("no such device");
            }
        };
        Bytes stream = new ModuleWriter().u64(1).string("npu").bytes();
        assertThatThrownBy(() -> ModuleBlob.readStream(stream, ModuleLoaders.of(List.of(own)), "blob"))
                .hasMessageContaining("blob, offset 0x8")
                .hasMessageContaining("the loader of `npu`")
                .hasMessageContaining("no such device");
    }

    /** Who reads a large library needs the memory of the file, not that of its payloads once more. */
    @Test
    void payloadsShareTheMemoryOfTheBlob() {
        int size = 16 << 20;
        DeviceModule large = new DeviceModule("cubin", Map.of(), Bytes.wrap(new byte[size]));
        Bytes blob = ModuleBlob.write(new ModuleTree(List.of(node("cuda", large)), true));
        ThreadMXBean thread = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = thread.getCurrentThreadAllocatedBytes();
        ModuleTree read = read(blob);
        assertThat(thread.getCurrentThreadAllocatedBytes() - before).isLessThan(size / 4);
        assertThat(read.root().payload()).isEqualTo(large);
    }

    @Test
    void tenThousandTreesSurviveTheRoundTrip() {
        Random random = new Random(3);
        for (int i = 0; i < 10_000; i++) {
            ModuleTree tree = tree(random);
            Bytes blob = ModuleBlob.write(tree);
            ModuleTree read = read(blob);
            assertThat(read).isEqualTo(tree);
            assertThat(ModuleBlob.write(read)).isEqualTo(blob);
        }
    }

    private static ModuleTree tree(Random random) {
        int count = 1 + random.nextInt(5);
        int library = random.nextInt(count + 1);
        List<ModuleNode> modules = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            TreeSet<Integer> imports = new TreeSet<>();
            IntStream.range(i + 1, count).filter(child -> random.nextBoolean()).forEach(imports::add);
            modules.add((i == library ? node("library", new LinkedCode(List.of())) : module(random))
                    .importing(List.copyOf(imports)));
        }
        return new ModuleTree(modules, true);
    }

    private static ModuleNode module(Random random) {
        String text = "t" + random.nextInt(99);
        return switch (random.nextInt(8)) {
            case 0 -> node("c", new SourceModule(Bytes.ofText(text), "c", List.of(text, "f"), List.of()));
            case 1 -> node("static_library", new StaticLibraryModule(Bytes.ofText(text), List.of(text)));
            case 2 -> node("const_loader", constants(random));
            case 3 -> node("GraphExecutorFactory", graph(random, text));
            case 4 -> node("AotExecutorFactory", new AotFactoryModule(List.of("p"), List.of(array(random)), text));
            case 5 -> node("metadata_module", new MetadataModule());
            case 6 -> node("VMExecutable", new BytecodeModule(Bytes.ofText(text)));
            default -> node(random.nextBoolean() ? "cuda" : "opencl", cuda(text));
        };
    }

    private static ConstantsModule constants(Random random) {
        int count = random.nextInt(3);
        List<String> names = IntStream.range(0, count).mapToObj(i -> "v" + i).toList();
        return new ConstantsModule(
                names, names.stream().map(name -> array(random)).toList(), List.of("f"), List.of(names));
    }

    private static GraphFactoryModule graph(Random random, String text) {
        return new GraphFactoryModule(Bytes.ofText("{}"), List.of("p"), List.of(array(random)), text);
    }

    private static SerializedArray array(Random random) {
        int length = random.nextInt(4);
        ModuleWriter out = new ModuleWriter()
                .u64(0xDD5E40F096B4A13FL)
                .u64(0)
                .u32(1)
                .u32(0)
                .u32(1)
                .u32(0x010800);
        out.u64(length).u64(length).raw(Bytes.wrap(new byte[length]));
        return SerializedArray.read(new ModuleReader(out.bytes(), "array"));
    }

    private static DeviceModule cuda(String text) {
        return new DeviceModule(
                "cu",
                Map.of(text, new DeviceModule.FunctionInfo(text, List.of(), List.of("blockIdx.x"))),
                Bytes.ofText(text));
    }

    private static ModuleNode node(String key, ModulePayload payload) {
        return new ModuleNode(key, payload, List.of());
    }

    private static ModuleTree read(Bytes blob) {
        return ModuleBlob.read(blob, List.of(), LOADERS, "blob");
    }

    private static String hex(Bytes bytes) {
        return HexFormat.of().formatHex(bytes.toArray());
    }
}
