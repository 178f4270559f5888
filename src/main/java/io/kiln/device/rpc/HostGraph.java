// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc;

import io.kiln.artifact.GraphFile;
import io.kiln.base.Bytes;

/**
 * A model's graph that a host walks, calling the board operator by operator.
 *
 * @param graph the graph
 * @param parameters the file with the values of its parameters
 */
public record HostGraph(GraphFile graph, Bytes parameters) {}
