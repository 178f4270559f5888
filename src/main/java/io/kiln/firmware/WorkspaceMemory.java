// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.Artifact.Loader;
import io.kiln.artifact.ModelLibrary;
import io.kiln.base.Bytes;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Memory for models that ask for it while they run, as TVM's do that were built without a memory planner: {@code TVMPlatformMemoryAllocate} and
 * {@code TVMPlatformMemoryFree} on the stack allocator, with as much memory as the metadata says that a run needs.
 */
final class WorkspaceMemory {
    static final String FILE = "workspace_memory.c";

    private static final String CALL = "TVMBackendAllocWorkspace(";

    /** A block's size is rounded up to this, which the metadata's sum does not know. */
    private static final int ALIGNMENT = 16;

    private static final Pattern OWN_HOOK =
            Pattern.compile("\\bTVMPlatformMemoryAllocate\\s*\\([^;{}]*\\)\\s*\\{", Pattern.DOTALL);

    private WorkspaceMemory() {}

    /**
     * The C file, if a model asks for memory.
     *
     * @param models all models of the image; one runs at a time
     * @param userSources the project's own files; one that defines the hook takes care of memory itself
     */
    static Optional<String> file(List<ModelLibrary> models, Collection<Bytes> userSources) {
        long bytes = models.stream().mapToLong(WorkspaceMemory::bytes).max().orElse(0);
        boolean isTakenCareOf = userSources.stream()
                .anyMatch(file -> OWN_HOOK.matcher(file.text()).find());
        return bytes == 0 || isTakenCareOf ? Optional.empty() : Optional.of(print(bytes));
    }

    /** What a model takes at most: all its blocks can be there at once. 0 if it takes none. */
    private static long bytes(ModelLibrary model) {
        long calls = model.artifacts().of(Loader.SOURCE).stream()
                .filter(Artifact::isForeign)
                .mapToLong(source -> calls(source.text()))
                .sum();
        return calls == 0 ? 0 : roundUp(model.metadata().workspaceBytes()) + calls * ALIGNMENT;
    }

    private static long calls(String source) {
        long calls = 0;
        for (int at = source.indexOf(CALL); at >= 0; at = source.indexOf(CALL, at + CALL.length())) {
            calls++;
        }
        return calls;
    }

    private static long roundUp(long bytes) {
        return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }

    private static String print(long bytes) {
        return """
            /* SPDX-License-Identifier: Apache-2.0
             * Made by Kiln for models that ask for memory while they run; this file is yours to use without conditions.
             * Define TVMPlatformMemoryAllocate and TVMPlatformMemoryFree in your own C to have it left out.
             */
            #include <tvm/runtime/crt/platform.h>
            #include <tvm/runtime/crt/stack_allocator.h>

            __attribute__((section(".bss.noinit.tvm"), aligned(TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES))) static uint8_t
                memory[%d];
            static tvm_workspace_t workspace;

            tvm_crt_error_t TVMPlatformMemoryAllocate(size_t num_bytes, DLDevice dev, void** out_ptr) {
              (void)dev;
              *out_ptr = NULL;
              if (num_bytes > sizeof(memory)) {
                return kTvmErrorPlatformNoMemory;
              }
              if (workspace.workspace == NULL) {
                tvm_crt_error_t error = StackMemoryManager_Init(&workspace, memory, sizeof(memory));
                if (error != kTvmErrorNoError) {
                  return error;
                }
              }
              return StackMemoryManager_Allocate(&workspace, (int32_t)num_bytes, out_ptr);
            }

            tvm_crt_error_t TVMPlatformMemoryFree(void* ptr, DLDevice dev) {
              (void)dev;
              return StackMemoryManager_Free(&workspace, ptr);
            }
            """.formatted(bytes);
    }
}
