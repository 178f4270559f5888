// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.artifact.ModelMetadata;
import io.kiln.device.protocol.ConsoleProtocol;
import io.kiln.device.protocol.Protocol;
import io.kiln.device.rpc.RpcProtocol;
import io.kiln.flow.build.GenerateStep;
import io.kiln.flow.resolve.ResolvedBuild;
import java.time.Duration;
import java.util.List;

/** What the image of a build is talked to by: chosen here, and a value from here on. */
final class Protocols {
    private Protocols() {}

    /**
     * The protocol of a build.
     *
     * @param limit longest time to each answer
     */
    static Protocol of(ResolvedBuild build, Duration limit) {
        return switch (build.spec().verify().over()) {
            case CONSOLE -> new ConsoleProtocol(limit);
            case RPC -> new RpcProtocol(limit, models(build));
        };
    }

    private static List<String> models(ResolvedBuild build) {
        return GenerateStep.store(build.spec().layout()).metadata().stream()
                .map(ModelMetadata::name)
                .toList();
    }
}
