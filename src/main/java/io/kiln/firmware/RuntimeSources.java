// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.artifact.ArchivePaths;
import io.kiln.base.Bytes;
import java.util.Collection;
import java.util.regex.Pattern;

/** Which C files of the runtime a project compiles. Those of the RPC server bring a {@code TVMLogf} that only a server can have. */
final class RuntimeSources {
    private static final String SERVER = ArchivePaths.SRC + "/microtvm_rpc_";

    private static final Pattern USE = Pattern.compile(
            "(?m)^\\s*#\\s*include\\s*[<\"]tvm/runtime/crt/(microtvm_rpc_server|rpc_common/\\w+)\\.h[>\"]");

    private RuntimeSources() {}

    /** Whether a file of the runtime, by its path in it, belongs to the RPC server. */
    static boolean isServer(String name) {
        return name.startsWith(SERVER);
    }

    /** Whether the project's own files use the RPC server. */
    static boolean useServer(Collection<Bytes> userSources) {
        return userSources.stream().anyMatch(file -> USE.matcher(file.text()).find());
    }
}
