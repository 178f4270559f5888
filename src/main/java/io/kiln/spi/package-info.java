// SPDX-License-Identifier: Apache-2.0
/**
 * What others add to Kiln: code generators, loaders and inspectors, as Java services in a dependency of the plugin. This package and {@code
 * io.kiln.api} are the only ones that keep their promises from one version to the next; the page "Compatibility" says which. No signature here
 * has a type from elsewhere than here and the JDK.
 *
 * <p>Interfaces that a service implements get new methods with defaults only. Those that Kiln implements ({@link io.kiln.spi.Operator},
 * {@link io.kiln.spi.Tensor} and others that a method gets) get any.
 */
package io.kiln.spi;
