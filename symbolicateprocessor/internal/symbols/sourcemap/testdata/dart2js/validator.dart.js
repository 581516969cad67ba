Q = {
    main: function() {
      var t1 = new Q.main_onError();
      J.set$validateBytes$x(self.exports, P.allowInterop(new Q.main_closure(t1), {func: 1, ret: [Q.Promise, -2], args: [P.Uint8List, Q._JSValidationOptions]}));
      J.set$validateString$x(self.exports, P.allowInterop(new Q.main_closure0(t1), {func: 1, ret: [Q.Promise, -2], args: [P.String, Q._JSValidationOptions]}));
      J.set$version$x(self.exports, P.allowInterop(new Q.main_closure1(), {func: 1, ret: P.String}));
      J.set$supportedExtensions$x(self.exports, P.allowInterop(new Q.main_closure2(), {func: 1, ret: P.Object}));
    },
    validateBytes: function(data, options) {
      return Q.validateBytes$body(data, options);
    },
    _getResourcesLoader: function(context, readerResult, getResource) {
      var t1 = new Q._getResourcesLoader_getBytes(getResource);
      return new N.ResourcesLoader(readerResult.gltf, context, new Q._getResourcesLoader_closure(readerResult, t1), new Q._getResourcesLoader_closure0(t1));
    },
};
  A.ValidationResult__getGltfInfoMap_closure.prototype = {
    call$1: function(mesh) {
      var t1 = H.interceptedTypeCheck(mesh, "$isMesh").primitives;
      return t1 != null && t1.any$1(t1, new A.ValidationResult__getGltfInfoMap__closure());
    },
    $signature: 69
  };
  A.ValidationResult__getGltfInfoMap__closure.prototype = {
    call$1: function(primitive) {
      return H.interceptedTypeCheck(primitive, "$isMeshPrimitive")._targets != null;
    },
    $signature: 3
  };
  Q.main_closure.prototype = {
    call$2: function(data, options) {
      var t1 = P.allowInterop(new Q.main__closure0(H.interceptedTypeCheck(data, "$isUint8List"), options, this.onError), {func: 1, ret: -1, args: [{func: 1, ret: -1, args: [P.Object]}, P.Function]});
      return new self.Promise(t1, P.Object);
    },
    "call*": "call$2",
    $requiredArgCount: 2,
    $signature: 71
  };
  Q.main__closure0.prototype = {
    call$2: function(resolve, reject) {
      H.functionTypeCheck(resolve, {func: 1, ret: -1, args: [P.Object]});
      H.interceptedTypeCheck(reject, "$isFunction");
      Q.validateBytes(this.data, this.options).then$1$2$onError(0, new Q.main___closure1(resolve), new Q.main___closure2(this.onError, reject), P.Null);
    },
    "call*": "call$2",
    $requiredArgCount: 2,
    $signature: 26
  };
  Q.main___closure1.prototype = {
    call$1: function(result) {
      this.resolve.call$1(P.jsify(H.assertSubtype(result, "$isMap", [P.String, P.Object], "$asMap")));
    },
    $signature: 27
  };
//# sourceMappingURL=validator.dart.js.map
