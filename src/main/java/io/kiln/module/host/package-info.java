// SPDX-License-Identifier: Apache-2.0
/**
 * Calls functions of a shared library from Java, with TVM's packed calling convention.
 *
 * <p>Java 17, for which Kiln is made, has no foreign functions outside an incubator: they are final from Java 22 on, and two ways would have to be
 * kept. So the calls go through JNA (Apache-2.0 or LGPL-2.1), which has been kept for long, brings its native part for all usual systems in
 * one jar, and needs no code of C in Kiln. Its overhead is some microseconds a call of the model. Only this package knows it.
 */
package io.kiln.module.host;
