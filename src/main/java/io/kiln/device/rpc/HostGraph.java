// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc;

import io.kiln.artifact.GraphFile;
import io.kiln.base.Bytes;

/**
 * A model whose graph a host walks.
 *
 * @param graph the graph
 * @param parameters the file with the values of its parameters
 */
public record HostGraph(GraphFile graph, Bytes parameters) {}
