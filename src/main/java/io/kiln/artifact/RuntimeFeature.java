// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import io.kiln.base.Bytes;
import io.kiln.base.CText;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Parts of the C runtime. Each names its files below {@code crt/}; a name that ends in {@code /} stands for a folder. Every file of the
 * runtime belongs to one feature.
 */
public enum RuntimeFeature {
    /** What code with the C interface may use: types, error codes, hooks of the platform, the stack allocator. Always there. */
    BASE(
            Set.of(),
            "",
            "include/crt_config.h",
            "include/dlpack/",
            "include/kiln/tensor.h",
            "include/tvm/runtime/c_backend_api.h",
            "include/tvm/runtime/c_runtime_api.h",
            "include/tvm/runtime/crt/error_codes.h",
            "include/tvm/runtime/crt/func_registry.h",
            "include/tvm/runtime/crt/logging.h",
            "include/tvm/runtime/crt/module.h",
            "include/tvm/runtime/crt/platform.h",
            "include/tvm/runtime/crt/stack_allocator.h",
            "src/runtime/crt/common/crt_backend_api.c",
            "src/runtime/crt/common/platform_defaults.c",
            "src/runtime/crt/memory/stack_allocator.c"),

    /** Functions by name: tables of functions, modules, packed functions, tensors that own their memory. */
    REGISTRY(
            Set.of(BASE),
            "(?:MutableFuncRegistry|FuncRegistry|Initialize|Func[CFGR]|CFunc|Mod|Array[AF]|ByteArrayF|Device[ACF]|Stream[CF]|SetStream"
                    + "|Synchronize|ObjectF|Backend(?:Get|Register|Run))\\w*\\s*\\(",
            "include/tvm/runtime/crt/crt.h",
            "include/tvm/runtime/crt/internal/common/",
            "include/tvm/runtime/crt/packed_func.h",
            "src/runtime/crt/common/crt_device_api.c",
            "src/runtime/crt/common/crt_runtime_api.c",
            "src/runtime/crt/common/func_registry.c",
            "src/runtime/crt/common/ndarray.c",
            "src/runtime/crt/common/packed_func.c"),

    /** A clock in seconds, from a counter of the board. */
    TIMER(Set.of(BASE), "", "include/tvm/runtime/crt/internal/timer/"),

    /** The page allocator: memory that can be freed in any order. */
    PAGE_ALLOCATOR(
            Set.of(BASE),
            "",
            "include/tvm/runtime/crt/internal/memory/",
            "include/tvm/runtime/crt/page_allocator.h",
            "src/runtime/crt/memory/page_allocator.c"),

    /** Metadata of models with the packed interface, and the executor that runs a model by it. */
    AOT_EXECUTOR(
            Set.of(REGISTRY),
            "",
            "include/tvm/runtime/crt/aot_executor.h",
            "include/tvm/runtime/crt/aot_executor_module.h",
            "include/tvm/runtime/metadata_types.h",
            "src/runtime/crt/aot_executor/",
            "src/runtime/crt/aot_executor_module/"),

    /** The executor that walks a graph. */
    GRAPH_EXECUTOR(
            Set.of(REGISTRY),
            "",
            "include/tvm/runtime/crt/graph_executor.h",
            "include/tvm/runtime/crt/internal/graph_executor/",
            "src/runtime/crt/graph_executor/"),

    /** The graph executor as a module, which hosts create and drive over RPC. */
    GRAPH_EXECUTOR_MODULE(
            Set.of(GRAPH_EXECUTOR),
            "",
            "include/tvm/runtime/crt/graph_executor_module.h",
            "src/runtime/crt/graph_executor_module/"),

    /** microTVM's RPC server with its frames and sessions. It brings a {@code TVMLogf}, which only a server can have. */
    RPC_SERVER(
            Set.of(AOT_EXECUTOR, TIMER),
            "",
            "include/tvm/runtime/crt/internal/minrpc/",
            "include/tvm/runtime/crt/microtvm_rpc_server.h",
            "include/tvm/runtime/crt/rpc_common/",
            "src/runtime/crt/microtvm_rpc_common/",
            "src/runtime/crt/microtvm_rpc_server/");

    private static final String PREFIX = "TVM";

    @SuppressWarnings("ImmutableEnumChecker") // an unmodifiable set
    private final Set<RuntimeFeature> needs;

    /** Calls of the feature's functions; it begins with plain letters, because models have megabytes of C to search. */
    @SuppressWarnings("ImmutableEnumChecker") // an unmodifiable value
    private final Optional<Pattern> calls;

    @SuppressWarnings("ImmutableEnumChecker") // an unmodifiable list
    private final List<String> files;

    RuntimeFeature(Set<RuntimeFeature> needs, String calls, String... files) {
        this.needs = needs;
        this.calls = calls.isEmpty()
                ? Optional.empty()
                : Optional.of(Pattern.compile(PREFIX + "(?<!\\w" + PREFIX + ")" + calls));
        this.files = List.of(files);
    }

    /** Whether a file of the runtime belongs to this feature. */
    public boolean has(String file) {
        return files.stream().anyMatch(name -> name.endsWith("/") ? file.startsWith(name) : file.equals(name));
    }

    /** The given features with all that they need; {@link #BASE} at least. */
    public static Set<RuntimeFeature> closure(Collection<RuntimeFeature> features) {
        EnumSet<RuntimeFeature> all = EnumSet.of(BASE);
        for (RuntimeFeature feature : features) {
            if (all.add(feature)) {
                all.addAll(closure(feature.needs));
            }
        }
        return Collections.unmodifiableSet(all);
    }

    /** The features that C sources use, by the headers that they include and the functions that they call, with all that these need. */
    public static Set<RuntimeFeature> usedBy(Collection<Bytes> sources) {
        List<String> texts = sources.stream().map(Bytes::text).toList();
        Set<String> headers = texts.stream()
                .flatMap(CText::includes)
                .map(header -> ArchivePaths.INCLUDE + "/" + header)
                .collect(Collectors.toSet());
        return closure(Arrays.stream(values())
                .filter(feature -> headers.stream().anyMatch(feature::has)
                        || texts.stream().anyMatch(feature::isCalledIn))
                .toList());
    }

    private boolean isCalledIn(String text) {
        return calls.filter(pattern ->
                        text.contains(PREFIX) && pattern.matcher(text).find())
                .isPresent();
    }
}
