// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

/**
 * A compiled model: the one value that stands between the compiler and the firmware half.
 *
 * @param metadata names, tensors and sizes
 * @param artifacts its files: generated C, header, Relay text, parameters
 */
public record ModelLibrary(ModelMetadata metadata, ArtifactSet artifacts) {}
