// SPDX-License-Identifier: Apache-2.0
/** An ONNX model as read: graphs, nodes, tensors and types, without the classes of the file format. */
package io.kiln.frontend.onnx.model;
