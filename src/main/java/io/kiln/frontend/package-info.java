// SPDX-License-Identifier: Apache-2.0
/** What all readers of model files share; each format has a package of its own below. */
package io.kiln.frontend;
