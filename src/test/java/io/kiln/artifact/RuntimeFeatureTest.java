// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import static io.kiln.artifact.RuntimeFeature.AOT_EXECUTOR;
import static io.kiln.artifact.RuntimeFeature.BASE;
import static io.kiln.artifact.RuntimeFeature.PAGE_ALLOCATOR;
import static io.kiln.artifact.RuntimeFeature.REGISTRY;
import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.ResourceTree;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class RuntimeFeatureTest {
    private static final Pattern INCLUDE = Pattern.compile("#include <((?:tvm|dlpack|crt_config)[^>]*)>");

    @Test
    void everyFileBelongsToOneFeature() {
        assertThat(ResourceTree.read("crt").keySet())
                .isNotEmpty()
                .allSatisfy(file -> assertThat(RuntimeFeature.values())
                        .filteredOn(feature -> feature.has(file))
                        .as(file)
                        .hasSize(1));
    }

    /** What a feature's files include is there whenever the feature is. */
    @ParameterizedTest
    @EnumSource
    void featuresAreWhole(RuntimeFeature feature) {
        List<Artifact> files = RuntimeFiles.runtime(Set.of(feature));
        List<String> names = files.stream().map(Artifact::fileName).toList();

        assertThat(names).isNotEmpty().contains("include/tvm/runtime/c_runtime_api.h");
        assertThat(files)
                .allSatisfy(file -> assertThat(INCLUDE.matcher(file.text()).results())
                        .extracting(include -> "include/" + include.group(1))
                        .isSubsetOf(names));
    }

    @Test
    void codeWithTheCInterfaceNeedsTheBaseOnly() {
        assertThat(usedBy()).containsExactly(BASE);
        assertThat(usedBy("#include <tvm/runtime/crt/module.h>\n#include <tvm/runtime/crt/stack_allocator.h>\n"
                        + "void f(void) { TVMBackendAllocWorkspace(1, 0, 8, 0, 8); TVMAPISetLastError(\"\"); }"))
                .containsExactly(BASE);
        assertThat(RuntimeFiles.runtime(Set.of(BASE)))
                .extracting(Artifact::fileName)
                .filteredOn(name -> name.endsWith(".c"))
                .containsExactly(
                        "src/runtime/crt/common/crt_backend_api.c",
                        "src/runtime/crt/common/platform_defaults.c",
                        "src/runtime/crt/memory/stack_allocator.c");
    }

    @Test
    void headersNameFeaturesWithAllThatTheseNeed() {
        assertThat(usedBy("#include <stdint.h>\n# include \"tvm/runtime/crt/page_allocator.h\"\n"))
                .containsExactlyInAnyOrder(BASE, PAGE_ALLOCATOR);
        assertThat(usedBy("", "#include <tvm/runtime/crt/crt.h>")).containsExactlyInAnyOrder(BASE, REGISTRY);
        assertThat(usedBy("#include <tvm/runtime/metadata_types.h>"))
                .containsExactlyInAnyOrder(BASE, REGISTRY, AOT_EXECUTOR);
        assertThat(usedBy("/* see <tvm/runtime/crt/crt.h> */")).containsExactly(BASE);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "TVMFuncCall(f, a, t, 1, &r, &c);",
                "TVMFuncGetGlobal (n, &f);",
                "TVMModGetFunction(m, n, 0, &f);",
                "TVMArrayFree(h);",
                "TVMDeviceAllocDataSpace(d, 1, 1, t, &p);",
                "TVMBackendGetFuncFromEnv(c, n, &f);",
                "TVMSynchronize(1, 0, s);"
            })
    void callsNameTheRegistryToo(String call) {
        assertThat(usedBy("#include <tvm/runtime/c_runtime_api.h>\nvoid f(void) { " + call + " }"))
                .containsExactlyInAnyOrder(BASE, REGISTRY);
    }

    @Test
    void aLongerNameIsAnotherFunction() {
        assertThat(usedBy("myTVMFuncCall(f); _TVMModFree(m); TVMPlatformAbort(1); TVMFuncCall_;"))
                .containsExactly(BASE);
        assertThat(usedBy("x=TVMFuncCall(f);")).containsExactlyInAnyOrder(BASE, REGISTRY);
    }

    private static Set<RuntimeFeature> usedBy(String... sources) {
        return RuntimeFeature.usedBy(Arrays.stream(sources).map(Bytes::ofText).toList());
    }
}
